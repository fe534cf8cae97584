package testkit

import (
	"testing"
	"time"
)

func TestRedisClusterFailsOver(t *testing.T) {
	cluster := NewRedisCluster(t, 3)
	owner := cluster.Owner("{foo}")
	cluster.mustRunCommand(cluster.Masters[owner], "set", "{foo}", "1")
	killed := time.Now()
	cluster.Masters[owner].Kill()
	if took := cluster.AwaitMaster(cluster.Replicas[owner], 20*time.Second).Sub(killed); took < time.Second {
		t.Errorf("the replica took over after %v, before the node timeout", took)
	}
	Eventually(t, 5*time.Second, func() error {
		_, err := cluster.runCommand(cluster.Replicas[owner], "set", "{foo}", "2")
		return err
	})
}
