-- freeze: sets or clears the flag beside a round's phase. While it is set nothing is granted.
--
-- KEYS:  state
-- ARGV:  frozen channel
--        frozen is 1 or 0.
-- REPLY: status
--        status: done, gone (no such round).

local state = KEYS[1]
local frozen, channel = ARGV[1], ARGV[2]

local fields = redis.call('HMGET', state, 'round', 'frozen')
if not fields[1] then return {'gone'} end
if fields[2] ~= frozen then
  redis.call('HSET', state, 'frozen', frozen)
  redis.pcall('PUBLISH', channel, 'round ' .. fields[1])
end
return {'done'}
