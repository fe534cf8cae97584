-- remove_consumers: removes consumers of a group that have been idle for long and have no entry pending. Removing a consumer loses
-- its pending entries, so check and removal are one step.
--
-- KEYS:  outbox
-- ARGV:  group silent_ms
-- REPLY: removed
--        how many were removed.

local outbox = KEYS[1]
local group, silent_ms = ARGV[1], tonumber(ARGV[2])

if redis.call('EXISTS', outbox) == 0 then return {0} end
local removed = 0
for _, facts in ipairs(redis.call('XINFO', 'CONSUMERS', outbox, group)) do
  local named = {}
  for i = 1, #facts, 2 do named[facts[i]] = facts[i + 1] end
  if named['pending'] == 0 and named['idle'] >= silent_ms then
    redis.call('XGROUP', 'DELCONSUMER', outbox, group, named['name'])
    removed = removed + 1
  end
end
return {removed}
