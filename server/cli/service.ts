/** `sluice service`: runs Sluice in the background from login on, using systemd on Linux and launchd on macOS. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { describeFileProblem, systemErrorCode } from '../ground/files/regular-file.ts';
import { type Examples, notes } from './help.ts';
import { createOutput } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { parsePort } from './serve-options.ts';
import { readTextFile, type Terminal } from './terminal.ts';

interface ServiceOptions {
  dataDir?: string;
  config?: string;
  port?: number;
}

/** Runs a program in the background for a user. */
interface ServiceManager {
  name: string;
  /** The file that describes the service. */
  path: string;
  text(command: readonly string[]): string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** In the service manager's terms: `active`, `inactive`, `failed` … */
  state(): Promise<string>;
}

const help = `
The service does not see the variables of your shell. Store credentials with "sluice provider add", or refer to files.`;

export const serviceExamples: Examples = {
  'service install': ['sluice service install', 'sluice service install --config ~/gateway.json'],
  'service uninstall': ['sluice service uninstall', 'sluice service uninstall && sluice serve'],
  'service status': ['sluice service status', 'sluice service status || sluice service install'],
};

export function addServiceVerbs(program: Command, terminal: Terminal): void {
  const service = program.command('service').description('run Sluice in the background from login on');
  const output = createOutput(terminal, false);
  const install = service
    .command('install')
    .description('install the service and start it')
    .option('--data-dir <folder>', 'the data folder')
    .option('--config <file>', 'use a declarative configuration')
    .addOption(new Option('--port <number>', 'the port (default: 4810)').argParser(parsePort))
    .addHelpText('after', notes(help));
  install.action(async () => {
    const manager = managerOf(terminal);
    const options = install.opts<ServiceOptions>();
    // Checked here, because the service would report a missing file only in its own log.
    if (options.config !== undefined) await readTextFile(options.config);
    await installService(manager, manager.text(commandLine(options)));
    output.show({}, `Sluice runs as a ${manager.name} service (${manager.path}), now and from each login on.`);
  });

  const uninstall = service.command('uninstall').description('stop the service and remove it; its data stays');
  uninstall.action(async () => {
    const manager = managerOf(terminal);
    if (!existsSync(manager.path)) throw new CliError(`The service is not installed: there is no ${manager.path}.`);
    await manager.stop();
    await rm(manager.path, { force: true });
    output.show({}, 'The service is removed. Its data stays.');
  });

  const status = service
    .command('status')
    .description('show the state of the service; the exit code is 1 if it is not active');
  status.action(async () => {
    const manager = managerOf(terminal);
    const state = existsSync(manager.path) ? await manager.state() : 'not installed';
    output.show({}, `The ${manager.name} service is ${state}.`);
    if (state !== 'active') process.exitCode = exitCodes.failure;
  });
}

/** If the service cannot be started, restores the previous state. */
async function installService(manager: ServiceManager, text: string): Promise<void> {
  const { path } = manager;
  const before = await readFile(path, 'utf8').catch(() => null);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${describeFileProblem(error)}.`);
  }
  try {
    await manager.start();
  } catch (error) {
    if (before !== null) await writeFile(path, before);
    else {
      // Undoes what was already enabled. Only the first error is reported.
      await manager.stop().catch(() => {});
      await rm(path, { force: true });
    }
    throw error;
  }
}

/** The program as it is running now, with absolute paths. */
function commandLine({ dataDir, config, port }: ServiceOptions): string[] {
  const [, script = ''] = process.argv;
  return [
    process.execPath,
    resolve(script),
    'serve',
    ...(dataDir === undefined ? [] : ['--data-dir', resolve(dataDir)]),
    ...(config === undefined ? [] : ['--config', resolve(config)]),
    ...(port === undefined ? [] : ['--port', String(port)]),
  ];
}

function managerOf(terminal: Terminal): ServiceManager {
  if (process.platform === 'linux') return systemd(terminal);
  if (process.platform === 'darwin') return launchd(terminal);
  throw new CliError('On this system the desktop starts Sluice at login: see its settings.');
}

function systemd({ env }: Terminal): ServiceManager {
  const systemctl = (...parameters: string[]) => run('systemctl', ['--user', ...parameters], env);
  return {
    name: 'systemd',
    path: join(env.XDG_CONFIG_HOME || join(homeOf(env), '.config'), 'systemd/user', unitName),
    text: systemdUnit,
    async start() {
      await systemctl('daemon-reload');
      await systemctl('enable', unitName);
      await systemctl('restart', unitName);
    },
    async stop() {
      await systemctl('disable', '--now', unitName);
    },
    state: () => systemctl('is-active', unitName).catch(stateOf),
  };
}

function launchd({ env }: Terminal): ServiceManager {
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const path = join(homeOf(env), 'Library/LaunchAgents', `${agentLabel}.plist`);
  const launchctl = (...parameters: string[]) => run('launchctl', parameters, env);
  const stop = async () => {
    await launchctl('bootout', `${domain}/${agentLabel}`).catch(() => {
      // The service is not loaded.
    });
  };
  return {
    name: 'launchd',
    path,
    text: (command) => launchAgent(command, join(homeOf(env), 'Library/Logs/Sluice/service.log')),
    async start() {
      await stop();
      await launchctl('bootstrap', domain, path);
    },
    stop,
    async state() {
      const printed = await launchctl('print', `${domain}/${agentLabel}`).catch(() => '');
      return /^\s*state = running$/m.test(printed) ? 'active' : 'inactive';
    },
  };
}

function homeOf({ HOME }: Terminal['env']): string {
  if (HOME) return HOME;
  throw new CliError('HOME is not set, so there is no place for the service.');
}

/** A program ended with an exit code other than 0. */
class ProgramFailed extends CliError {
  readonly stdout: string;

  constructor(commandLine: string, { stdout, stderr }: { stdout: string; stderr: string }) {
    super(`"${commandLine}" failed: ${(stderr || stdout).trim().replace(/\.$/, '')}.`);
    this.stdout = stdout.trim();
  }
}

async function run(command: string, parameters: string[], env: Terminal['env']): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, parameters, { env: { ...env } });
    return stdout.trim();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') {
      throw new CliError(`${command} is not found: this system has no services for users.`);
    }
    const output = outputSchema.safeParse(error);
    throw output.success ? new ProgramFailed([command, ...parameters].join(' '), output.data) : error;
  }
}

/** The fields that `execFile` adds to its error. */
const outputSchema = z.object({ stdout: z.string(), stderr: z.string() });

/** `systemctl is-active` prints the state, and ends with an exit code other than 0 if the service is not active. */
function stateOf(error: unknown): string {
  if (error instanceof ProgramFailed && error.stdout !== '') return error.stdout;
  throw error;
}

/** A command line. The first item is the path of a program. */
type CommandLine = readonly string[];

const unitName = 'sluice.service';
const agentLabel = 'dev.sluice.gateway';

/** A systemd user unit (systemd.service(5)). Exit codes 2 and 3 are for mistakes that another start would repeat. */
export function systemdUnit(command: CommandLine): string {
  return `[Unit]
Description=Sluice, one local address for AI tools and providers
After=network-online.target

[Service]
Type=exec
ExecStart=${command.map(quoteForSystemd).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 3
TimeoutStopSec=20
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`;
}

/** In systemd's quoting, `%` begins a specifier and `$` a variable. */
function quoteForSystemd(text: string): string {
  const escaped = text.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`);
  return `"${escaped.replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
}

/**
 * A launchd agent (launchd.plist(5)), started at login and again after a failure.
 *
 * @param logPath the file to which stderr is written
 */
export function launchAgent(command: CommandLine, logPath: string): string {
  const parameters = command.map((each) => `    <string>${escapeXml(each)}</string>`).join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${agentLabel}</string>
  <key>ProgramArguments</key>
  <array>
${parameters}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>StandardErrorPath</key>
  <string>${escapeXml(logPath)}</string>
</dict>
</plist>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
