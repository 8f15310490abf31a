import { hostname } from 'node:os';
import type { Command } from 'commander';
import { readEnvironment } from '../environment.ts';
import { CliError } from './exit-codes.ts';
import { createOutput, localTime } from './output.ts';
import type { Terminal } from './terminal.ts';

interface LoginFlags {
  dataDir?: string;
  json?: boolean;
}

/** Neither needs the engine. */
export function addLoginVerbs(program: Command, terminal: Terminal): void {
  program
    .command('login')
    .argument('<url>', 'the address of the team gateway: https://gateway.example')
    .option('--data-dir <folder>', 'the data folder')
    .option('--json', 'print JSON')
    .description('sign in to a team gateway, for commands with --gateway')
    .action(async (address: string, flags: LoginFlags) => {
      const output = createOutput(terminal, flags.json ?? false);
      const { beginDevice, gatewayOrigin, waitUntilLetIn } = await import('./team-gateway.ts');
      const origin = gatewayOrigin(address);
      const device = await beginDevice(origin);
      const where = device.verificationUriComplete ?? device.verificationUri;
      output.note(`Open ${where} in a browser and confirm the code ${device.userCode}.`);
      const { token, expiresAt, person } = await waitUntilLetIn(origin, device, hostname());
      await (await loginsOf(terminal, flags)).keep(origin, token);
      const until = localTime(expiresAt);
      output.show({ gateway: origin, person: person.name, expiresAt }, `Signed in as ${person.name} until ${until}.`);
    });
  program
    .command('logout')
    .argument('<url>', 'the address of the team gateway')
    .option('--data-dir <folder>', 'the data folder')
    .option('--json', 'print JSON')
    .description('sign out of a team gateway')
    .action(async (address: string, flags: LoginFlags) => {
      const { endToken, gatewayOrigin } = await import('./team-gateway.ts');
      const origin = gatewayOrigin(address);
      const logins = await loginsOf(terminal, flags);
      const token = await logins.find(origin);
      if (token === undefined) throw new CliError(`You are not signed in to ${origin}.`);
      await endToken(origin, token);
      await logins.forget(origin);
      createOutput(terminal, flags.json ?? false).show({ gateway: origin }, `Signed out of ${origin}.`);
    });
}

async function loginsOf({ env }: Terminal, { dataDir }: LoginFlags) {
  const environment = readEnvironment(env);
  const { openLogins } = await import('./logins.ts');
  return openLogins(dataDir ?? environment.dataDir, environment);
}
