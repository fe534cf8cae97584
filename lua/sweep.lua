-- sweep: removes marks of instances that are gone from the players of a room's presence, a page at a time. report.lua describes the hash.
--
-- KEYS:  presence
-- ARGV:  cursor page
--        cursor is 0 at first, then that of the reply before. page is about how many players are looked at.
-- REPLY: cursor removed
--        cursor is '0' when all players have been looked at.

local presence = KEYS[1]
local cursor, page = ARGV[1], tonumber(ARGV[2])

local last, garbage, names = string.match(redis.call('HGET', presence, '@') or '', '^(%d+) (%d+)(.*)$')
if not last then return {'0', 0} end
local owned = {}
for name in string.gmatch(names, '%S+') do
  owned[string.match(redis.call('HGET', presence, '@' .. name) or '', '^%d+') or ''] = true
end

local removed = 0
-- Removes the marks of a player that belong to no instance.
local function remove_orphaned_marks(player, marks)
  local list, gone = '', 0
  for mark in string.gmatch(marks, '%d+') do
    if owned[mark] then list = list .. ' ' .. mark else gone = gone + 1 end
  end
  if gone == 0 then return end
  removed = removed + gone
  if list == '' then redis.call('HDEL', presence, player) else redis.call('HSET', presence, player, string.sub(list, 2)) end
end

local found = redis.call('HSCAN', presence, cursor, 'COUNT', page)
for i = 1, #found[2], 2 do
  if string.sub(found[2][i], 1, 1) ~= '@' then remove_orphaned_marks(found[2][i], found[2][i + 1]) end
end
if removed > 0 then
  redis.call('HSET', presence, '@', last .. ' ' .. math.max(0, tonumber(garbage) - removed) .. names)
end
return {found[1], removed}
