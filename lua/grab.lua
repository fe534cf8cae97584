-- grab: decides one batch of taps on one round, all of it or nothing.
--
-- Keeps: claims + rest + refunded = budget; every claim within min and max; never more claims than packets; at most cap
-- claims a player and one a drop; a won tap repeated has its first result; only Redis' clock says what is early or late; a drop
-- wins nothing after its end; who tapped a bomb wins nothing for a while, whatever tab or instance they tap on.
-- The number of Redis calls does not depend on the number of taps. All reads and checks come before the first write.
-- Needs fit.lua in front.
--
-- KEYS:  state claims board outbox amounts
-- ARGV:  batch channel (player drop)...
--        batch: a name that all tries of one batch share; it is kept in the outbox with what the batch won
--        drop: its number; of a bomb with a b in front
-- REPLY: batch now left_packets left_cents letters (cents number)...
--        letters: one for each tap, in order: w won, d duplicate, c capped, m missed, s sold_out, e early, l late,
--        f frozen, b bomb, t throttled; cents and number follow for each w and d, in order.
--        batch 'gone' when Redis has nothing of the round; batch 'torn' when its keys do not fit together (fit.lua).

local BOARD_SIZE = 100
local LONGEST_NUMBER = 7 -- digits of a claim's number
local PENALTY_MS = 2000 -- of a bomb

local state, claims, board, outbox, amounts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local batch, channel = ARGV[1], ARGV[2]
local first_tap, taps = 3, (#ARGV - 2) / 2
local floor, format, match, sub = math.floor, string.format, string.match, string.sub

local fields = redis.call('HMGET', state, 'round', 'phase', 'reason', 'frozen', 'starts_at', 'ends_at', 'expires_at',
  'packets', 'left', 'rest', 'refunded', 'min', 'max', 'split', 'pace', 'duration_ms', 'cap', 'secret', 'drops_per_second',
  'drop_life_ms', 'held_until')
if not fields[1] then return {batch, without_state(outbox, claims, board)} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local round, phase, reason, frozen = fields[1], fields[2], fields[3], fields[4] == '1'
local starts_at, ends_at, expires_at = tonumber(fields[5]), tonumber(fields[6]), fields[7]
local packets, left, rest, refunded = tonumber(fields[8]), tonumber(fields[9]), tonumber(fields[10]), tonumber(fields[11])
local min, max, dealt, pace = tonumber(fields[12]), tonumber(fields[13]), fields[14] == 'dealt', fields[15]
local duration_ms, cap, secret = tonumber(fields[16]), tonumber(fields[17]), fields[18]
local drops_per_second, drop_life_ms, held_until = tonumber(fields[19]), tonumber(fields[20]), tonumber(fields[21] or 0)
local had_claims = left < packets

if not claims_fit(outbox, claims, board, packets, left) then return {batch, 'torn'} end

-- The outcome of all taps that have no claim yet; nil while the round is open.
local refusal
if frozen then refusal = 'f'
elseif now < starts_at then refusal = 'e'
elseif phase == 'closed' then refusal = reason == 'sold_out' and 's' or 'l'
elseif now >= ends_at then refusal = 'l' end

local released = packets
if pace == 'even' then
  released = math.min(packets, math.floor((now - starts_at) * 10 * packets / (9 * duration_ms)) + 1)
end

-- The players' claims as 'count total drop:cents:number drop:cents:number …', read once. Only players who have claims, or win,
-- get an index into the lists below. Parallel lists are faster than a table for each player. A player's text may be long, so it is
-- searched without parsing it, and copied only when it is written.
local players = {}
for i = 1, taps do players[i] = ARGV[first_tap + 2 * (i - 1)] end
local texts = redis.call('HMGET', claims, unpack(players))

local places, placed = {}, 0 -- player → index into:
local names, counts, totals = {}, {}, {}
local stored, from = {}, {} -- the text as it was read, and where its claims begin
local heads, added, lasts = {}, {}, {} -- of who won now: 'count total', the claims won now, and the number of the last

local function place(player, count, total, text, claims_from)
  placed = placed + 1
  places[player], names[placed] = placed, player
  counts[placed], totals[placed], stored[placed], from[placed], added[placed] = count, total, text, claims_from, ''
  return placed
end

-- Who tapped a bomb is held: their field 'held PLAYER' of the state is 'until drop'. held_until is the latest of these, so that most
-- batches need not read them. A bomb that is tapped again while it holds the player, as when a batch is repeated, is the same bomb.
local holds = {}
if now < held_until then
  local held_players = {}
  for i = 1, taps do held_players[i] = 'held ' .. players[i] end
  local found = redis.call('HMGET', state, unpack(held_players))
  for i = 1, taps do holds[players[i]] = found[i] or nil end
end
local new_holds = {}

local function held_by(player)
  local till, bomb = match(holds[player] or '', '^(%d+) (%S+)$')
  if till and now < tonumber(till) then return bomb end
end

local function tap_bomb(player, drop)
  local bomb = held_by(player)
  if bomb then return bomb == drop and 'b' or 't' end
  if not refusal then
    held_until = now + PENALTY_MS
    holds[player] = format('%d %s', held_until, drop)
    new_holds[#new_holds + 1] = 'held ' .. player
    new_holds[#new_holds + 1] = holds[player]
  end
  return 'b'
end

-- A drop falls within its slot, and its end counts from the slot's end. A round that an older release opened knows no ends.
local function has_ended(drop)
  return drop_life_ms and now - starts_at >= floor(tonumber(drop) * 1000 / drops_per_second) + drop_life_ms
end

local deck -- the amounts of the next packets, read for the first win

-- Draw n is 13 of the hex digits of sha1(secret:live:⌊n/3⌋), a 52-bit number.
local digest, digest_block
local function draw(n)
  local block = floor(n / 3)
  if block ~= digest_block then
    digest, digest_block = redis.sha1hex(format('%s:live:%d', secret, block)), block
  end
  local from = 13 * (n % 3)
  return tonumber(sub(digest, from + 1, from + 13), 16)
end

-- Uniform on an interval around the mean of what is left, as wide as the bounds of everybody's packets allow.
local function live_amount(u)
  if left == 1 then return rest end
  local lowest, highest = min, rest - (left - 1) * min
  if max > 0 then
    lowest, highest = math.max(min, rest - (left - 1) * max), math.min(max, highest)
  end
  local mean = floor(rest / left)
  if u % left < rest % left then mean = mean + 1 end
  local width = mean - lowest
  if highest - mean < width then width = highest - mean end
  return mean - width + floor(u / left) % (2 * width + 1)
end

local letters, reply, replied = {}, {batch, now, 0, 0, ''}, 5
local wins, won = {}, 0

local function add_claim_to_reply(cents, number)
  reply[replied + 1], reply[replied + 2] = cents, number
  replied = replied + 2
end

local function reply_existing_claim(at, drop)
  local mark, text = ' ' .. drop .. ':', stored[at]
  local _, found = string.find(text, mark, from[at], true)
  if not found then
    text = added[at]
    _, found = string.find(text, mark, 1, true)
  end
  if not found then return false end
  local cents, number = match(text, '^(%d+):(%d+)', found + 1)
  add_claim_to_reply(tonumber(cents), tonumber(number))
  return true
end

-- Each number is converted to text once, by format: concatenating a number is as slow as all the rest of a win.
local function win(player, drop, at)
  local number = packets - left + 1
  local cents, cents_text
  if dealt then
    cents_text = deck[won + 1]
    cents = tonumber(cents_text)
  else
    cents = live_amount(draw(number - 1))
    cents_text = format('%d', cents)
  end
  local number_text = format('%d', number)
  local claim = ' ' .. drop .. ':' .. cents_text .. ':' .. number_text
  left, rest = left - 1, rest - cents
  if at then
    counts[at], totals[at], added[at] = counts[at] + 1, totals[at] + cents, added[at] .. claim
    heads[at] = format('%d %d', counts[at], totals[at])
  else
    at = place(player, 1, cents, '', 1)
    heads[at], added[at] = '1 ' .. cents_text, claim
  end
  lasts[at] = number
  won = won + 1
  wins[won] = player .. ' ' .. drop .. ' ' .. cents_text .. ' ' .. number_text
  add_claim_to_reply(cents, number)
end

for i = 1, taps do
  local player, drop = players[i], ARGV[first_tap + 2 * i - 1]
  local at = places[player]
  if not at and texts[i] then
    local count, total, claims_from = match(texts[i], '^(%d+) (%d+)()')
    at = place(player, tonumber(count), tonumber(total), texts[i], claims_from)
  end
  if sub(drop, 1, 1) == 'b' then letters[i] = tap_bomb(player, drop)
  elseif at and reply_existing_claim(at, drop) then letters[i] = 'd'
  elseif refusal then letters[i] = refusal
  elseif at and counts[at] >= cap then letters[i] = 'c'
  elseif left == 0 then letters[i] = 's'
  elseif held_by(player) then letters[i] = 't'
  elseif packets - left >= released or has_ended(drop) then letters[i] = 'm'
  else
    if dealt and not deck then
      if redis.call('LLEN', amounts) ~= left then return {batch, 'torn'} end
      deck = redis.call('LRANGE', amounts, 0, math.min(taps, left) - 1)
    end
    letters[i] = 'w'
    win(player, drop, at)
  end
end

reply[3], reply[4], reply[5] = left, rest + refunded, table.concat(letters)
if won == 0 then
  if #new_holds > 0 then redis.call('HSET', state, 'held_until', held_until, unpack(new_holds)) end
  return reply
end

-- Reads that would fail on a key of the wrong type, before the first write.
redis.call('XLEN', outbox)
local lowest_on_board = redis.call('ZRANGE', board, BOARD_SIZE - 1, BOARD_SIZE - 1, 'WITHSCORES')
local least = lowest_on_board[2] and -tonumber(lowest_on_board[2]) or 0

local rows, risen, fallen, r = {}, {}, {}, 0
for at = 1, placed do
  if heads[at] then
    rows[r + 1], rows[r + 2] = names[at], heads[at] .. sub(stored[at], from[at]) .. added[at]
    r = r + 2
    if totals[at] > least then
      risen[#risen + 1] = -totals[at]
      risen[#risen + 1] = format('%07d:%s', lasts[at], names[at])
      local before = match(stored[at], ':(%d+)$', -LONGEST_NUMBER - 1)
      if before then fallen[#fallen + 1] = format('%07d:%s', before, names[at]) end
    end
  end
end

redis.call('HSET', state, 'left', left, 'rest', rest, 'held_until', held_until, unpack(new_holds))
redis.call('HSET', claims, unpack(rows))
if dealt then redis.call('LPOP', amounts, won) end
if #risen > 0 then
  redis.call('ZADD', board, unpack(risen)) -- before ZREM, which would take an emptied board away and its TTL with it
  if #fallen > 0 then redis.call('ZREM', board, unpack(fallen)) end
  redis.call('ZREMRANGEBYRANK', board, BOARD_SIZE, -1)
end
local batch_text = table.concat(wins, ';')
redis.call('XADD', outbox, '*', 'kind', 'claims', 'round', round, 'at', now, 'claims', batch_text, 'batch', batch)
if not had_claims then
  redis.call('PEXPIREAT', claims, expires_at)
  redis.call('PEXPIREAT', board, expires_at)
end
redis.pcall('PUBLISH', channel, 'claims ' .. round .. ' ' .. left .. ' ' .. rest .. ' ' .. batch_text)
return reply
