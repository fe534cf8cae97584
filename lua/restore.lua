-- restore: replaces a lost key of a round with a staged key, which was rebuilt from the other keys. Nothing is granted while a key
-- is missing (fit.lua), so those have not changed since; left is compared to be sure.
--
-- KEYS:  state target staged
-- ARGV:  left
--        the packets that were left when the staged key was made.
-- REPLY: status
--        status: restored, kept (the round has the key), changed (the round is gone, or has granted since).

local state, target, staged = KEYS[1], KEYS[2], KEYS[3]
local left = ARGV[1]

local fields = redis.call('HMGET', state, 'left', 'expires_at')
local status = 'restored'
if fields[1] ~= left then status = 'changed'
elseif redis.call('EXISTS', target) == 1 then status = 'kept' end
if status ~= 'restored' then
  redis.call('DEL', staged)
  return {status}
end
redis.call('RENAME', staged, target)
redis.call('PEXPIREAT', target, fields[2])
return {status}
