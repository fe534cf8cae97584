-- open: creates a round's keys, unless they exist. The reply is the same either way, so it can be repeated.
--
-- Redis' clock sets the window: starts_at = now + countdown, ends_at = starts_at + duration. A dealt round's amounts come in a
-- staged List of the caller's own, which takes the place of the amounts in one step; one that came too late is removed.
-- A drop can win for drop_life_ms after its slot. The outbox and its consumer group exist before the first claim, from the beginning of the stream.
--
-- KEYS:  state claims outbox amounts staged
-- ARGV:  round channel group lifetime_ms countdown_ms duration_ms total packets min max split pace cap secret frozen
--        freeze_version drops_per_second drop_life_ms
-- REPLY: now starts_at ends_at
--        now 'unstaged' when a dealt round has no staged amounts, or not as many as packets; now 'torn' when the state is
--        gone but claims or an outbox are there: opening anew would pay twice.

local state, claims, outbox, amounts, staged = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local round, channel, group, lifetime_ms = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local countdown_ms, duration_ms = tonumber(ARGV[5]), tonumber(ARGV[6])
local total, packets, min, max, split, pace, cap, secret =
  ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12], ARGV[13], ARGV[14]
local frozen, freeze_version, drops_per_second, drop_life_ms = ARGV[15], ARGV[16], ARGV[17], ARGV[18]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local window = redis.call('HMGET', state, 'starts_at', 'ends_at')
if window[1] then
  redis.call('DEL', staged)
  return {now, tonumber(window[1]), tonumber(window[2])}
end

if redis.call('EXISTS', claims, outbox) > 0 then return {now, 'torn'} end
local dealt = split == 'dealt'
if dealt and redis.call('LLEN', staged) ~= tonumber(packets) then return {now, 'unstaged'} end

local starts_at = now + countdown_ms
local ends_at = starts_at + duration_ms
local expires_at = ends_at + lifetime_ms
redis.call('HSET', state, 'round', round, 'phase', 'open', 'reason', '', 'frozen', frozen, 'freeze_version', freeze_version,
  'starts_at', starts_at, 'ends_at', ends_at, 'expires_at', expires_at, 'total', total, 'packets', packets,
  'left', packets, 'rest', total, 'refunded', '0', 'min', min, 'max', max, 'split', split, 'pace', pace,
  'duration_ms', duration_ms, 'cap', cap, 'secret', secret, 'drops_per_second', drops_per_second, 'drop_life_ms', drop_life_ms)
redis.call('PEXPIREAT', state, expires_at)
if dealt then
  redis.call('RENAME', staged, amounts)
  redis.call('PEXPIREAT', amounts, expires_at)
end
redis.call('XGROUP', 'CREATE', outbox, group, '0', 'MKSTREAM')
redis.call('PEXPIREAT', outbox, expires_at)
redis.pcall('PUBLISH', channel, 'round ' .. round)
return {now, starts_at, ends_at}
