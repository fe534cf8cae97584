package testkit

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// process is a child that dies with the test binary.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed once the child is gone and its exit status collected
}

// startProcess starts cmd and collects its exit status. Linux kills the child when the thread that
// started it ends, so one goroutine keeps that thread as long as the child lives.
func startProcess(cmd *exec.Cmd) (*process, error) {
	dieWithParent(cmd)
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is of no interest: tests kill it
			close(p.exited)
		}
	}()
	return p, <-started
}

// signal sends sig to the child; one that has already exited is no error.
func (p *process) signal(sig os.Signal) error {
	err := p.cmd.Process.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// kill ends the child at once, frozen or not, and returns when it is gone.
func (p *process) kill() error {
	err := p.signal(syscall.SIGKILL)
	if err == nil {
		<-p.exited
	}
	return err
}
