import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Examples } from '../../cli/help.ts';
import { createOutput, type Output } from '../../cli/output.ts';
import { CliError } from '../../cli/programs/exit-codes.ts';
import { localTime } from '../../cli/shown.ts';
import type { Terminal } from '../../cli/terminal.ts';
import { controlError } from '../../contract/control-error.ts';
import { readEnvironment } from '../../engine/environment.ts';
import type { Fetch } from '../../transport/fetch.ts';
import type { DeviceSignIn, TokenGrant } from '../joining/team-gateway.ts';

interface LoginFlags {
  dataDir?: string;
  json?: boolean;
}

export const loginExamples: Examples = {
  login: ['sluice login https://gateway.example', 'sluice login https://gateway.example --json'],
  logout: ['sluice logout https://gateway.example', 'sluice logout https://gateway.example --json'],
};

/** Neither verb needs the engine. */
export function addLoginVerbs(program: Command, terminal: Terminal): void {
  const add = (name: string, description: string, action: (context: LoginContext) => Promise<void>) =>
    program
      .command(name)
      .argument('<url>', 'the address of the team gateway: https://gateway.example')
      .option('--data-dir <folder>', 'the data folder')
      .option('--json', 'print JSON')
      .description(description)
      .action((address: string, flags: LoginFlags) => withOutbound(terminal, address, { flags, action }));
  add('login', 'sign in to a team gateway, for commands with --gateway', logIn);
  add('logout', 'sign out of a team gateway', logOut);
}

interface LoginContext {
  fetch: Fetch;
  origin: string;
  logins: Awaited<ReturnType<typeof loginsOf>>;
  output: Output;
}

async function withOutbound(
  terminal: Terminal,
  address: string,
  { flags, action }: { flags: LoginFlags; action: (context: LoginContext) => Promise<void> },
): Promise<void> {
  const { gatewayOrigin } = await import('../joining/team-gateway.ts');
  const { createOutbound } = await import('../../cli/outbound.ts');
  const origin = gatewayOrigin(address);
  const { fetch, close } = createOutbound(readEnvironment(terminal.env));
  try {
    const logins = await loginsOf(terminal, flags);
    await action({ fetch, origin, logins, output: createOutput(terminal, flags.json ?? false) });
  } finally {
    await close();
  }
}

async function logIn({ fetch, origin, logins, output }: LoginContext): Promise<void> {
  const { requestDeviceCode } = await import('../joining/team-gateway.ts');
  const device = await requestDeviceCode(fetch, origin);
  output.note(askToConfirm({ url: device.verificationUriComplete ?? device.verificationUri, code: device.userCode }));
  const { token, expiresAt, person } = await waitUntilLetIn(fetch, origin, device);
  await logins.keep(origin, token);
  const expiry = localTime(expiresAt);
  output.show({ gateway: origin, person: person.name, expiresAt }, `Signed in as ${person.name} until ${expiry}.`);
}

async function logOut({ fetch, origin, logins, output }: LoginContext): Promise<void> {
  const { revokeToken } = await import('../joining/team-gateway.ts');
  const token = await logins.find(origin);
  if (token === undefined) throw new CliError(`You are not signed in to ${origin}.`);
  await revokeToken(fetch, origin, token);
  await logins.forget(origin);
  output.show({ gateway: origin }, `Signed out of ${origin}.`);
}

export function askToConfirm({ url, code }: { url: string; code: string }): string {
  return `Open ${url} in a browser and confirm the code ${code}.`;
}

async function waitUntilLetIn(fetch: Fetch, origin: string, device: DeviceSignIn): Promise<TokenGrant> {
  const { pollToken } = await import('../joining/team-gateway.ts');
  const { deviceCode, expiresInSeconds, intervalSeconds } = device;
  for (let waitedSeconds = 0; waitedSeconds < expiresInSeconds; waitedSeconds += intervalSeconds) {
    const grant = await pollToken(fetch, origin, { deviceCode, name: hostname() });
    if (grant) return grant;
    await pause(intervalSeconds * 1_000);
  }
  throw controlError('not_found', { code: 'joining-expired' });
}

async function loginsOf({ env }: Terminal, { dataDir }: LoginFlags) {
  const { dataDir: defaultDataDir, passphrase, sessionBus, secrets } = readEnvironment(env);
  const { openLogins } = await import('../joining/logins.ts');
  return openLogins(dataDir ?? defaultDataDir, { passphrase, sessionBus, prefer: secrets });
}
