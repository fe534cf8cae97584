// Command server runs redrain, a red packet rain game server. This package holds the commands and the wiring, nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes: a wrong flag or variable, and whatever keeps the server from starting, is exitUsage.
const (
	exitOK    = 0
	exitFault = 1
	exitUsage = 2
)

type cli struct {
	Serve     serveCommand     `cmd:"" default:"withargs" help:"Serve players, hosts and screens (the default). SIGTERM or Ctrl-C stops it in order, within 30 s; a second one at once."`
	Settle    settleCommand    `cmd:"" help:"Settle rounds into the database, beside instances that serve, or in their place. It stops as serve does."`
	Reconcile reconcileCommand `cmd:"" help:"Compare rounds in Redis with their books; ends with exit code 1 if they differ."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database's tables up to date and end."`
	Load      loadCommand      `cmd:"" help:"Play a round with bots and report what they felt. Only on servers of your own."`
}

func main() {
	os.Exit(runUntilSignal(os.Args[1:]))
}

// runUntilSignal is run with SIGINT and SIGTERM to end it: the first asks for an orderly stop, a second one ends the process
// at once, also where it was started with SIGINT ignored, as shells do in the background.
func runUntilSignal(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		<-again
		os.Exit(exitFault)
	})
	return run(ctx, args, os.Stdout, os.Stderr)
}

// run is the program: it returns the exit code when the command is done or ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var commands cli
	helped := false
	parser, err := kong.New(&commands,
		kong.Name("server"), kong.Description("redrain, a red packet rain (红包雨) game server."),
		kong.UsageOnError(), kong.Help(printHelp), kong.Writers(stdout, stderr), kong.Exit(func(int) { helped = true }),
	)
	if err != nil {
		return printError(stderr, err, exitFault)
	}
	parsed, err := parser.Parse(args)
	if helped {
		return exitOK
	}
	if err != nil {
		return printError(stderr, err, exitUsage)
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(&console{out: stdout, err: stderr})
	err = parsed.Run()
	var refused *startError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &refused):
		return printError(stderr, err, exitUsage)
	default:
		return printError(stderr, err, exitFault)
	}
}

// printHelp adds the default command's flags to the program's own help, so that --help alone lists every variable.
func printHelp(options kong.HelpOptions, asked *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, asked); err != nil {
		return fmt.Errorf("print the help: %w", err)
	}
	if asked.Selected() != nil {
		return nil
	}
	serve, err := kong.Trace(asked.Kong, []string{"serve"})
	if err != nil {
		return fmt.Errorf("find the default command: %w", err)
	}
	_, _ = fmt.Fprintln(asked.Stdout)
	return kong.DefaultHelpPrinter(options, serve) //nolint:wrapcheck // as above
}

// console is where a command writes.
type console struct{ out, err io.Writer }

// startError is an error that keeps a command from starting. It ends the program with exitUsage.
type startError struct{ cause error }

func (e *startError) Error() string { return e.cause.Error() }
func (e *startError) Unwrap() error { return e.cause }

// printError prints an error in one line and returns the exit code.
func printError(stderr io.Writer, err error, code int) int {
	_, _ = fmt.Fprintln(stderr, "server: "+strings.Join(strings.Fields(err.Error()), " "))
	return code
}
