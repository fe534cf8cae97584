-- remove_consumers: removes consumers of a group that have been idle for silent_ms and have no pending entries. Removing a consumer
-- would lose its pending entries, so the check and the removal are atomic.
--
-- KEYS:  outbox
-- ARGV:  group silent_ms
-- REPLY: removed
--        how many were removed.

local outbox = KEYS[1]
local group, silent_ms = ARGV[1], tonumber(ARGV[2])

if redis.call('EXISTS', outbox) == 0 then return {0} end
local removed = 0
for _, attributes in ipairs(redis.call('XINFO', 'CONSUMERS', outbox, group)) do
  local named = {}
  for i = 1, #attributes, 2 do named[attributes[i]] = attributes[i + 1] end
  if named['pending'] == 0 and named['idle'] >= silent_ms then
    redis.call('XGROUP', 'DELCONSUMER', outbox, group, named['name'])
    removed = removed + 1
  end
end
return {removed}
