-- expire: gives the keys of a settled round their final time to live, and publishes to the room that the round is settled. A key
-- with a shorter time to live keeps it.
--
-- KEYS:  state claims board outbox amounts
-- ARGV:  round lifetime_ms channel
-- REPLY: shortened
--        how many keys got a shorter time to live.

local state, claims, board, outbox, amounts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local round, lifetime_ms, channel = ARGV[1], tonumber(ARGV[2]), ARGV[3]

local shortened = 0
for _, key in ipairs({state, claims, board, outbox, amounts}) do
  if redis.call('PTTL', key) > lifetime_ms then
    redis.call('PEXPIRE', key, lifetime_ms)
    shortened = shortened + 1
  end
end
redis.pcall('PUBLISH', channel, 'round ' .. round)
return {shortened}
