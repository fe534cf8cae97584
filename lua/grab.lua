-- grab: decides one batch of taps on one round, all of it or nothing.
--
-- Keeps: claims + rest + refunded = budget; every claim within min and max; never more claims than packets; at most cap
-- claims a player and one a drop; a won tap repeated has its first result; only Redis' clock says what is early or late.
-- The number of Redis calls does not depend on the number of taps. All reads and checks come before the first write.
--
-- KEYS:  state claims board outbox amounts
-- ARGV:  batch channel (player drop)...
-- REPLY: batch now left_packets left_cents letters (cents number)...
--        letters: one for each tap, in order: w won, d duplicate, c capped, m missed, s sold_out, e early, l late,
--        f frozen; cents and number follow for each w and d, in order.
--        batch 'gone' when the round has no state; batch 'torn' when the amounts List is shorter than the packets left.

local BOARD_SIZE = 100

local state, claims, board, outbox, amounts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local batch, channel = ARGV[1], ARGV[2]
local first_tap, taps = 3, (#ARGV - 2) / 2

local fields = redis.call('HMGET', state, 'round', 'phase', 'reason', 'frozen', 'starts_at', 'ends_at', 'expires_at',
  'packets', 'left', 'rest', 'refunded', 'min', 'max', 'split', 'pace', 'duration_ms', 'cap', 'secret')
if not fields[1] then return {batch, 'gone'} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local round, phase, reason, frozen = fields[1], fields[2], fields[3], fields[4] == '1'
local starts_at, ends_at, expires_at = tonumber(fields[5]), tonumber(fields[6]), fields[7]
local packets, left, rest, refunded = tonumber(fields[8]), tonumber(fields[9]), tonumber(fields[10]), tonumber(fields[11])
local min, max, dealt, pace = tonumber(fields[12]), tonumber(fields[13]), fields[14] == 'dealt', fields[15]
local duration_ms, cap, secret = tonumber(fields[16]), tonumber(fields[17]), fields[18]
local had_claims = left < packets

-- What everybody hears who has no claim for their drop; nil while the round is open.
local shut
if frozen then shut = 'f'
elseif now < starts_at then shut = 'e'
elseif phase == 'closed' then shut = reason == 'sold_out' and 's' or 'l'
elseif now >= ends_at then shut = 'l' end

local released = packets
if pace == 'even' then
  released = math.min(packets, math.floor((now - starts_at) * 10 * packets / (9 * duration_ms)) + 1)
end

-- The players' claims as 'count total drop:cents:number drop:cents:number …', read once; held is filled only for those
-- who have any, so nobody else pays for matching text.
local players = {}
for i = 1, taps do players[i] = ARGV[first_tap + 2 * (i - 1)] end
local texts = redis.call('HMGET', claims, unpack(players))
local held = {}
local function holding(player, text)
  if not held[player] then
    local count, total, last = string.match(text, '^(%d+) (%d+) .*:(%d+)$')
    held[player] = {text = text, count = tonumber(count), total = tonumber(total), last = tonumber(last), new = false}
  end
  return held[player]
end

local deck = {}
if dealt and not shut and left > 0 then
  local most = math.min(taps, left)
  deck = redis.call('LRANGE', amounts, 0, most - 1)
  if #deck < most then return {batch, 'torn'} end
end

-- Draw n is 13 of the hex digits of sha1(secret:live:⌊n/3⌋), a 52-bit number.
local digest, digest_block
local function draw(n)
  local block = math.floor(n / 3)
  if block ~= digest_block then
    digest, digest_block = redis.sha1hex(secret .. ':live:' .. block), block
  end
  local from = 13 * (n % 3)
  return tonumber(string.sub(digest, from + 1, from + 13), 16)
end

-- Uniform on an interval around the mean of what is left, as wide as the bounds of everybody's packets allow.
local function live_amount(u)
  if left == 1 then return rest end
  local lowest, highest = min, rest - (left - 1) * min
  if max > 0 then
    lowest, highest = math.max(min, rest - (left - 1) * max), math.min(max, highest)
  end
  local mean = math.floor(rest / left)
  if u % left < rest % left then mean = mean + 1 end
  local width = math.min(mean - lowest, highest - mean)
  return mean - width + math.floor(u / left) % (2 * width + 1)
end

local letters, reply, wins, winners = {}, {batch, now, 0, 0, ''}, {}, {}

local function replay(entry, drop)
  local _, at = string.find(entry.text, ' ' .. drop .. ':', 1, true)
  if not at then return false end
  local cents, number = string.match(entry.text, '^(%d+):(%d+)', at + 1)
  reply[#reply + 1] = tonumber(cents)
  reply[#reply + 1] = tonumber(number)
  return true
end

local function win(player, drop, entry)
  local number = packets - left + 1
  local cents = dealt and tonumber(deck[#wins + 1]) or live_amount(draw(number - 1))
  left, rest = left - 1, rest - cents
  if not entry then
    entry = {text = '', count = 0, total = 0, new = false}
    held[player] = entry
  end
  if not entry.new then
    entry.new, entry.before = true, entry.last
    winners[#winners + 1] = player
  end
  entry.count, entry.total, entry.last = entry.count + 1, entry.total + cents, number
  entry.text = entry.text .. ' ' .. drop .. ':' .. cents .. ':' .. number
  wins[#wins + 1] = player .. ' ' .. drop .. ' ' .. cents .. ' ' .. number
  reply[#reply + 1] = cents
  reply[#reply + 1] = number
end

for i = 1, taps do
  local player, drop = players[i], ARGV[first_tap + 2 * i - 1]
  local entry = held[player]
  if not entry and texts[i] then entry = holding(player, texts[i]) end
  if entry and replay(entry, drop) then letters[i] = 'd'
  elseif shut then letters[i] = shut
  elseif entry and entry.count >= cap then letters[i] = 'c'
  elseif left == 0 then letters[i] = 's'
  elseif packets - left >= released then letters[i] = 'm'
  else
    letters[i] = 'w'
    win(player, drop, entry)
  end
end

reply[3], reply[4], reply[5] = left, rest + refunded, table.concat(letters)
if #wins == 0 then return reply end

-- Reads that would fail on a key of the wrong type, before the first write.
redis.call('XLEN', outbox)
local lowest_on_board = redis.call('ZRANGE', board, BOARD_SIZE - 1, BOARD_SIZE - 1, 'WITHSCORES')
local least = lowest_on_board[2] and -tonumber(lowest_on_board[2]) or 0

local rows, risen, fallen = {}, {}, {}
for _, player in ipairs(winners) do
  local entry = held[player]
  rows[#rows + 1] = player
  rows[#rows + 1] = entry.count .. ' ' .. entry.total .. string.gsub(entry.text, '^%d+ %d+', '')
  if entry.total > least then
    risen[#risen + 1] = -entry.total
    risen[#risen + 1] = string.format('%07d:%s', entry.last, player)
    if entry.before then fallen[#fallen + 1] = string.format('%07d:%s', entry.before, player) end
  end
end

redis.call('HSET', state, 'left', left, 'rest', rest)
redis.call('HSET', claims, unpack(rows))
if dealt then redis.call('LPOP', amounts, #wins) end
if #risen > 0 then
  redis.call('ZADD', board, unpack(risen)) -- before ZREM, which would take an emptied board away and its TTL with it
  if #fallen > 0 then redis.call('ZREM', board, unpack(fallen)) end
  redis.call('ZREMRANGEBYRANK', board, BOARD_SIZE, -1)
end
local won = table.concat(wins, ';')
redis.call('XADD', outbox, '*', 'kind', 'claims', 'round', round, 'at', now, 'claims', won)
if not had_claims then
  redis.call('PEXPIREAT', claims, expires_at)
  redis.call('PEXPIREAT', board, expires_at)
end
redis.pcall('PUBLISH', channel, 'claims ' .. round .. ' ' .. left .. ' ' .. rest .. ' ' .. won)
return reply
