package rdb

import "strconv"

// All key and channel names are made here. All keys of a round share the hash tag {round}, those of a room
// {room}, so that each script's keys lie in one slot of a cluster.

func roundKey(round, part string) string { return "redrain:{" + round + "}:" + part }

func stateKey(round string) string   { return roundKey(round, "state") }
func claimsKey(round string) string  { return roundKey(round, "claims") }
func boardKey(round string) string   { return roundKey(round, "board") }
func outboxKey(round string) string  { return roundKey(round, "outbox") }
func amountsKey(round string) string { return roundKey(round, "amounts") }

// allKeys are the keys of a round, in the order of roundKeys.
func allKeys(round string) []string {
	return []string{stateKey(round), claimsKey(round), boardKey(round), outboxKey(round), amountsKey(round)}
}

// stagedKey is one opener's own List of amounts, which open.lua renames.
func stagedKey(round, opener string) string { return roundKey(round, "staged:"+opener) }

func roomKey(room, part string) string { return "redrain:{room:" + room + "}:" + part }

func leaseKey(room string) string    { return roomKey(room, "lease") }
func reportsKey(room string) string  { return roomKey(room, "reports") }
func presenceKey(room string) string { return roomKey(room, "presence") }

// readyKey is written by an instance to check that Redis takes writes.
func readyKey(instance string) string { return "redrain:ready:" + instance }

// roomChannel carries the events of a room.
func roomChannel(room string) string { return channelPrefix + room }

const channelPrefix = "redrain:room:"

// echoChannel is the channel on which one connection of one instance receives its own echoes. It looks like that of a room, which no
// code can be, so that a Redis user who may use it may use those of rooms.
func echoChannel(instance string, connection int64) string {
	return roomChannel("echo:" + instance + ":" + strconv.FormatInt(connection, 10))
}

// settleGroup is the outbox's consumer group.
const settleGroup = "settle"
