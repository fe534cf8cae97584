-- snapshot: reads the state, the leaderboard and the latest claims of a round at one moment. Needs fit.lua in front.
--
-- KEYS:  state claims board outbox amounts
-- ARGV:  top latest
-- REPLY: now phase reason frozen starts_at ends_at left_packets left_cents (score member)×top… '|' batch×latest…
--        phase: open, closed; left_cents counts the refund of a closed round; each batch is the text of a claims entry of
--        the outbox, newest first. now 'gone' when Redis has nothing of the round; now 'torn'
--        when its keys do not fit together.

local state, claims, board, outbox, amounts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local top, latest = tonumber(ARGV[1]), tonumber(ARGV[2])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local fields = redis.call('HMGET', state, 'phase', 'reason', 'frozen', 'starts_at', 'ends_at', 'left', 'rest', 'refunded',
  'packets', 'split')
if not fields[1] then return {now, without_state(outbox, claims, board)} end
if not keys_fit(outbox, claims, board, amounts, tonumber(fields[9]), tonumber(fields[6]), fields[10]) then return {now, 'torn'} end

local reply = {now, fields[1], fields[2], tonumber(fields[3]), tonumber(fields[4]), tonumber(fields[5]), tonumber(fields[6]),
  tonumber(fields[7]) + tonumber(fields[8])}
if top > 0 then
  local best = redis.call('ZRANGE', board, 0, top - 1, 'WITHSCORES')
  for i = 1, #best, 2 do
    reply[#reply + 1] = best[i + 1]
    reply[#reply + 1] = best[i]
  end
end
reply[#reply + 1] = '|'
if latest > 0 then
  local taken = 0
  for _, entry in ipairs(redis.call('XREVRANGE', outbox, '+', '-', 'COUNT', latest + 1)) do -- one may be the refund
    local values = entry[2]
    if values[2] == 'claims' and taken < latest then
      reply[#reply + 1] = values[8]
      taken = taken + 1
    end
  end
end
return reply
