/** The command line: its commands and exit codes. The engine is imported only by commands that need it. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EnvironmentError, readEnvironment } from '../environment.ts';
import { version } from '../version.ts';
import { addAliasVerbs } from './alias.ts';
import { addConnectVerb } from './connect.ts';
import { addDoctor } from './doctor.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { addGroupVerbs } from './group.ts';
import { addKeyVerbs } from './key.ts';
import { addLogVerb } from './log.ts';
import { createOutput } from './output.ts';
import { addProviderVerbs } from './provider.ts';
import { addRouteVerbs } from './route.ts';
import { addTeamPresetVerbs } from './team-preset.ts';
import type { Terminal } from './terminal.ts';
import { addTransferVerbs } from './transfer.ts';
import { addUsageVerb } from './usage.ts';
import { createVerbs } from './verb.ts';
import { addWindowVerb } from './window.ts';

const introduction = `Sluice: one OpenAI base URL on this machine, your own keys, every provider.

Commands other than "serve" use the Sluice running on the data folder, or the folder itself if none is running.`;

const environmentHelp = `
Environment:
  SLUICE_DATA_DIR      the data folder, unless --data-dir is given
  SLUICE_PASSPHRASE    encrypts the file of secrets, instead of a key file
  SLUICE_SECRETS       where secrets are kept: auto (default), keychain or file
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY    proxies to providers; also in lower case
  NODE_EXTRA_CA_CERTS  a PEM file with additional certificate authorities

Exit codes: 0 success, 1 failure, 2 wrong arguments, 3 another Sluice is running on the data folder.`;

/** Runs the command given by the arguments and sets the process's exit code. */
export async function runCommandLine(terminal: Terminal): Promise<void> {
  const output = createOutput(terminal, terminal.argv.includes('--json'));
  handleClosedPipes(terminal);
  try {
    await createProgram(terminal).parseAsync(terminal.argv, { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // Commander has printed its own errors already.
    if (!(error instanceof CommanderError)) output.fail(error);
  }
}

/** A closed pipe ends a command (`sluice log --follow | head`), but not `serve`. */
function handleClosedPipes({ argv, stdout, stderr }: Terminal): void {
  stderr.on('error', () => {});
  stdout.on('error', () => {
    if (argv[0] !== 'serve') process.exit(exitCodes.ok);
  });
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof EnvironmentError) return exitCodes.usage;
  if (!(error instanceof CommanderError)) return exitCodes.failure;
  return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('sluice')
    .description(introduction)
    .version(version)
    .addHelpText('after', environmentHelp)
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
    });
  addServe(program, terminal);
  const verbs = createVerbs(terminal);
  addKeyVerbs(program, verbs);
  addProviderVerbs(program, verbs);
  addGroupVerbs(program, verbs);
  addAliasVerbs(program, verbs);
  addRouteVerbs(program, verbs);
  addLogVerb(program, verbs);
  addUsageVerb(program, verbs);
  addTransferVerbs(program, verbs);
  addTeamPresetVerbs(program, verbs);
  addConnectVerb(program, verbs);
  addWindowVerb(program, verbs);
  addDoctor(program, verbs);
  return program;
}

interface ServeFlags {
  port?: number;
  host?: string;
  dataDir?: string;
  config?: string;
  open?: boolean;
  json?: boolean;
}

function addServe(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('run the gateway until it is stopped (Ctrl+C, SIGTERM)')
    .addOption(new Option('--port <number>', 'the port; 0: any free one (default: 4810)').argParser(parsePort))
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1; others expose it to the network)')
    .option('--data-dir <folder>', 'the folder of configuration, secrets and ledger')
    .option('--config <file>', 'use a declarative configuration, which Sluice does not change')
    .option('--open', 'open the window in the browser')
    .option('--json', 'print one line of JSON once it is ready, and nothing else on stdout')
    .action(async (flags: ServeFlags) => {
      const environment = readEnvironment(terminal.env);
      const { serve } = await import('./serve.ts');
      await serve(
        {
          dataDir: flags.dataDir ?? environment.dataDir,
          environment,
          port: flags.port,
          host: flags.host,
          configFile: flags.config,
          open: flags.open ?? false,
          json: flags.json ?? false,
        },
        terminal,
      );
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 to 65535.');
}
