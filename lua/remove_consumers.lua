-- dismiss: removes the consumers of a group that are gone for good: silent for long, and with nothing pending. To remove a
-- consumer loses what it has pending, so it is looked at and removed in one step.
--
-- KEYS:  outbox
-- ARGV:  group silent_ms
-- REPLY: dismissed
--        how many were removed.

local outbox = KEYS[1]
local group, silent_ms = ARGV[1], tonumber(ARGV[2])

if redis.call('EXISTS', outbox) == 0 then return {0} end
local dismissed = 0
for _, facts in ipairs(redis.call('XINFO', 'CONSUMERS', outbox, group)) do
  local named = {}
  for i = 1, #facts, 2 do named[facts[i]] = facts[i + 1] end
  if named['pending'] == 0 and named['idle'] >= silent_ms then
    redis.call('XGROUP', 'DELCONSUMER', outbox, group, named['name'])
    dismissed = dismissed + 1
  end
end
return {dismissed}
