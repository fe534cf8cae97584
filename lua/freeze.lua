-- freeze: sets or clears the flag beside a round's phase. While it is set nothing is granted. Each freeze and each release has a
-- version, greater than all before: an older one than the state's was read before somebody changed it, and changes nothing.
--
-- KEYS:  state
-- ARGV:  frozen version channel
--        frozen is 1 or 0.
-- REPLY: status
--        status: done, older (the state has a newer version), gone (no such round).

local state = KEYS[1]
local frozen, version, channel = ARGV[1], ARGV[2], ARGV[3]

local fields = redis.call('HMGET', state, 'round', 'frozen', 'freeze_version')
if not fields[1] then return {'gone'} end
if tonumber(version) < tonumber(fields[3] or 0) then return {'older'} end
redis.call('HSET', state, 'frozen', frozen, 'freeze_version', version)
if fields[2] ~= frozen then redis.pcall('PUBLISH', channel, 'round ' .. fields[1]) end
return {'done'}
