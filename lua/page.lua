-- page: reads a page of a round's claims from the outbox without reading the entries before it. Numbers of claims and ids of
-- entries ascend together, so the first entry is found by binary search, for its milliseconds and then for its sequence number.
--
-- KEYS:  outbox
-- ARGV:  after limit
-- REPLY: (batch text)…
--        whole claims entries in order, each as the name of its batch, which may be '', and its text. The first has the claim with
--        number after + 1 if there is one. Together they have at least limit claims with a number above after, or all there are.

local outbox = KEYS[1]
local after, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local CHUNK = 16
local format, match = string.format, string.match

-- The text of a claims entry with its first and last number; '' for the refund and for an entry that does not parse.
local function parse_entry(entry)
  local values = entry[2]
  local text = values[2] == 'claims' and values[8] or ''
  return text, tonumber(match(text, '^%S+ %S+ %S+ (%d+)') or ''), tonumber(match(text, ' (%d+)$') or '')
end

-- Whether a claim with a number up to after + 1 comes at an id or later.
local function reaches(id)
  while true do
    local entry = redis.call('XRANGE', outbox, id, '+', 'COUNT', 1)[1]
    if not entry then return false end
    local _, first = parse_entry(entry)
    if first then return first <= after + 1 end
    id = '(' .. entry[1]
  end
end

-- Binary search for the greatest whole number from low to high whose id still reaches; that of low does.
local function search_greatest(low, high, id_of)
  while low < high do
    local middle = math.floor((low + high + 1) / 2)
    if reaches(format(id_of, middle)) then low = middle else high = middle - 1 end
  end
  return low
end

local oldest = redis.call('XRANGE', outbox, '-', '+', 'COUNT', 1)[1]
if not oldest then return {} end
local newest = redis.call('XREVRANGE', outbox, '+', '-', 'COUNT', 1)[1]

local from = oldest[1]
if after > 0 and reaches(from) then
  local ms = format('%d', search_greatest(tonumber(match(oldest[1], '^%d+')), tonumber(match(newest[1], '^%d+')), '%d-0'))
  local last = redis.call('XREVRANGE', outbox, ms, ms, 'COUNT', 1)[1]
  local sequence = last and search_greatest(0, tonumber(match(last[1], '%d+$')), ms .. '-%d') or 0
  from = ms .. '-' .. format('%d', sequence)
end

local reply, taken = {}, 0
while taken < limit do
  local entries = redis.call('XRANGE', outbox, from, '+', 'COUNT', CHUNK)
  for _, entry in ipairs(entries) do
    local text, _, last = parse_entry(entry)
    if last and last > after and taken < limit then
      reply[#reply + 1] = entry[2][9] == 'batch' and entry[2][10] or ''
      reply[#reply + 1] = text
      taken = last - after
    end
  end
  if #entries < CHUNK then break end
  from = '(' .. entries[CHUNK][1]
end
return reply
