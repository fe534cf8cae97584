-- ready: an instance proves that it may do on this server what rounds need: run a script that reads the time, writes, and publishes.
-- Whatever of that it may not do, or cannot, is the error of the call. A master of a cluster may have so few slots that no key of an
-- instance falls into them: then there is no key, and nothing is written.
--
-- KEYS:  ready
-- ARGV:  channel message lifetime_ms
-- REPLY: now

local ready = KEYS[1]
local channel, message, lifetime_ms = ARGV[1], ARGV[2], ARGV[3]

local time = redis.call('TIME')
if ready then redis.call('SET', ready, message, 'PX', lifetime_ms) end
redis.call('PUBLISH', channel, message)
return {time[1] * 1000 + math.floor(time[2] / 1000)}
