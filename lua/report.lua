-- report: an instance reports which players joined and left a room there, how many taps it counted in the round and who joined last,
-- and takes or keeps the room's lease if it can. The holder of the lease gets the sums over all instances, and publishes the tally.
--
-- An epoch is the moment at which a lease began, or one more than the last epoch, so it grows even over a Redis that lost its keys.
--
-- The hash presence counts a player once who is at several instances. Each instance has a number, its mark. Fields:
--   PLAYER     'mark mark …': the marks of the instances where the player is
--   @INSTANCE  'mark serial count': the instance's mark, the serial of its last changes that were applied, and how many players
--              have its mark
--   @          'last garbage INSTANCE INSTANCE …': the last mark that was assigned, how many marks of players belong to instances
--              that are gone, and which instances have a field
-- It is one key, so that no part of it can be lost without the others. An instance whose field is not what it expects gets a new
-- mark and reports all its players again; its old marks become garbage, which sweep.lua removes.
--
-- KEYS:  lease reports presence
-- ARGV:  instance round online taps lease_ms fresh_ms lifetime_ms arrivals mark since serial unsent joined left
--        lease_ms 0 gives the lease back. arrivals is 'moment player moment player …', as short as the instance wants it.
--        mark is the instance's, 0 if it has none; since is the last serial that it knows was applied, serial that of these changes.
--        joined and left are 'player player …'; unsent is by how many players the instance has more once it has reported the rest.
-- REPLY: now epoch online taps arrivals mark garbage
--        epoch is 0 when another instance holds the lease, and then only now and mark mean anything. An instance that did not report
--        within fresh_ms does not count in online; its taps do. arrivals is those of all instances that count, one after the other.
--        If mark is not the one of the arguments, joined and left were not applied.

local lease, reports, presence = KEYS[1], KEYS[2], KEYS[3]
local instance, round, online, taps = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local lease_ms, fresh_ms, lifetime_ms = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local arrivals, mark, since, serial = ARGV[8], ARGV[9], tonumber(ARGV[10]), tonumber(ARGV[11])
local unsent, joined, left = tonumber(ARGV[12]), ARGV[13], ARGV[14]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', lease, 'holder', 'epoch', 'until') -- these two fail before the first write if a key is of
local entry = redis.call('HGET', presence, '@' .. instance)         -- another type
local own, upto, marks = string.match(entry or '', '^(%d+) (%d+) (%d+)$')
upto, marks = tonumber(upto or 0), tonumber(marks or 0)

if lease_ms == 0 then online, arrivals = 0, '' end -- an instance that leaves has no players there, but its taps count
redis.call('HSET', reports, instance, now .. ' ' .. online .. ' ' .. taps .. ' ' .. round .. ' ' .. arrivals)
redis.call('PEXPIRE', reports, lifetime_ms)

-- Reads the field '@'. Without it nobody can tell whose the marks are, so the hash is deleted and all instances report again.
local function read_directory()
  local last, garbage, names = string.match(redis.call('HGET', presence, '@') or '', '^(%d+) (%d+)(.*)$')
  if last then return tonumber(last), tonumber(garbage), names end
  redis.call('UNLINK', presence)
  own, marks = nil, 0
  return 0, 0, ''
end

-- The names of instances without the own one.
local function without_own(names)
  local kept = ''
  for name in string.gmatch(names, '%S+') do
    if name ~= instance then kept = kept .. ' ' .. name end
  end
  return kept
end

-- Adds the own mark to a player's, or removes it.
local function set_mark(player, wanted)
  local list, has = '', false
  for other in string.gmatch(redis.call('HGET', presence, player) or '', '%d+') do
    if other == own then has = true else list = list .. ' ' .. other end
  end
  if has == wanted then return end
  if wanted then list = list .. ' ' .. own end
  marks = marks + (wanted and 1 or -1)
  if list == '' then redis.call('HDEL', presence, player) else redis.call('HSET', presence, player, string.sub(list, 2)) end
end

-- Applies the changes, once, and returns whether the own field is now what the instance expects.
local function apply_changes()
  if own ~= mark or since > upto then return false end -- Redis lost it, or was set back to an earlier state
  if serial < upto then return true end                -- a call that was overtaken by a later one
  if serial > upto then
    for player in string.gmatch(joined, '%S+') do set_mark(player, true) end
    for player in string.gmatch(left, '%S+') do set_mark(player, false) end
    redis.call('HSET', presence, '@' .. instance, own .. ' ' .. serial .. ' ' .. marks)
  end
  return marks == online - unsent
end

-- Assigns the instance a mark that it never had, also if Redis lost the last one that was assigned.
local function assign_new_mark()
  local last, garbage, names = read_directory()
  mark = math.max(last, tonumber(mark)) + 1
  redis.call('HSET', presence, '@', mark .. ' ' .. (garbage + marks) .. without_own(names) .. ' ' .. instance,
    '@' .. instance, mark .. ' ' .. serial .. ' 0')
end

local function remove_instance()
  local last, garbage, names = read_directory()
  mark, names = 0, without_own(names)
  if names == '' then return redis.call('UNLINK', presence) end
  redis.call('HDEL', presence, '@' .. instance)
  redis.call('HSET', presence, '@', last .. ' ' .. (garbage + marks) .. names)
end

if lease_ms == 0 then remove_instance() elseif not apply_changes() then assign_new_mark() end
redis.call('PEXPIRE', presence, lifetime_ms)

local epoch = 0
if held[1] == instance then epoch = tonumber(held[2]) end
if lease_ms == 0 then
  if epoch > 0 then redis.call('HSET', lease, 'holder', '', 'until', 0) end -- the epoch stays, the next must be higher
  return {now, 0, 0, 0, '', 0, 0}
end
if epoch == 0 and (not held[1] or now >= tonumber(held[3])) then
  epoch = math.max(now, tonumber(held[2] or 0) + 1)
end
if epoch == 0 then return {now, 0, 0, 0, '', tonumber(mark), 0} end
redis.call('HSET', lease, 'holder', instance, 'epoch', epoch, 'until', now + lease_ms)
redis.call('PEXPIRE', lease, lifetime_ms)

local all = redis.call('HGETALL', reports)
local players, taps_sum, here, old, alive = 0, 0, {}, {}, {}
for i = 1, #all, 2 do
  local at, count, tapped, of, news = string.match(all[i + 1], '^(%d+) (%d+) (%d+) (%S*) ?(.*)$')
  local fresh = tonumber(at) > now - fresh_ms
  if fresh then players, alive[all[i]] = players + tonumber(count), true end
  if fresh and news ~= '' then here[#here + 1] = news end
  if of == round then taps_sum = taps_sum + tonumber(tapped) end
  if not fresh and of ~= round then old[#old + 1] = all[i] end
end
if #old > 0 then redis.call('HDEL', reports, unpack(old)) end

-- Removes the fields of instances that are gone, and returns how many players have a mark, how many marks they have, and the
-- garbage. If there are fewer players than one instance has marked, Redis lost some: all instances report again.
local function count_players()
  local last, garbage, names = read_directory()
  local list, fields, kept, entries, total, most = {}, {}, '', 0, 0, 0
  for name in string.gmatch(names, '%S+') do
    list[#list + 1], fields[#fields + 1] = name, '@' .. name
  end
  local found = #list > 0 and redis.call('HMGET', presence, unpack(fields)) or {}
  for i, name in ipairs(list) do
    local count = tonumber(string.match(found[i] or '', '%d+$') or 0)
    if alive[name] then
      kept, entries, total, most = kept .. ' ' .. name, entries + 1, total + count, math.max(most, count)
    else
      garbage = garbage + count
      redis.call('HDEL', presence, fields[i])
    end
  end
  if kept ~= names or last == 0 then redis.call('HSET', presence, '@', last .. ' ' .. garbage .. kept) end
  local marked = redis.call('HLEN', presence) - 1 - entries
  if marked >= most then return marked, total, garbage end
  redis.call('UNLINK', presence)
  return 0, 0, 0
end

-- Players without a mark, as all are of an instance of the version before, count once at every instance until they have one.
local marked, total, garbage = count_players()
return {now, epoch, marked + players - total, taps_sum, table.concat(here, ' '), tonumber(mark), garbage}
