/** `sluice doctor`: checks everything between a client and a provider, in the order of a request. Changes nothing. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { bypassEntries, parseBypass } from '../contract/host-rule.ts';
import type { StatusView } from '../contract/status-views.ts';
import { prepareDataFolder } from '../data-folder/claim-folder.ts';
import { readEnvironment } from '../engine/environment.ts';
import { describeFileProblem } from '../ground/files/regular-file.ts';
import type { Control } from './control.ts';
import { clientOrigin } from './env.ts';
import type { Examples } from './help.ts';
import type { Output } from './output.ts';
import { describeHolder } from './port-holder.ts';
import { exitCodes } from './programs/exit-codes.ts';
import { describeTest } from './provider-add.ts';
import { line, renderShown, verdict } from './shown.ts';
import {
  describeAddress,
  describeCaptured,
  describeLedger,
  describeRefusal,
  describeSharedCounts,
  recentRefusals,
} from './status.ts';
import { plainLook, type Terminal } from './terminal.ts';
import type { VerbContext, Verbs } from './verb.ts';

interface Finding {
  name: string;
  ok: boolean;
  message: string;
}

export const doctorExamples: Examples = {
  doctor: ['sluice doctor', 'sluice doctor --json'],
};

export function addDoctor(program: Command, { on }: Verbs): void {
  const doctor = program
    .command('doctor')
    .description(
      'check Node, data folder, database, request log, secrets, port, shared limits, proxy, certificate authorities and providers',
    );
  on(doctor, async (context) => {
    const findings = await examine(context);
    const ok = findings.every((finding) => finding.ok);
    const lines = findings.map(({ name, ok: isFine, message }) => line(verdict(isFine), `  ${name}: ${message}`));
    context.output.show({ ok, findings }, lines);
    if (!ok) process.exitCode = exitCodes.failure;
  });
}

async function examine({ control, terminal, dataDir, output }: VerbContext): Promise<Finding[]> {
  const status = await control.query({ type: 'status' });
  return [
    { name: 'node', ok: true, message: `${process.versions.node} (${process.execPath})` },
    examineFolder(dataDir),
    ...(await examineStore(terminal)),
    {
      name: 'request log',
      ok: status.ledger.ok && status.ledger.dropped === 0 && !status.ledger.setAside,
      message: describeLedger(status.ledger) + describeCaptured(status),
    },
    await examineSecrets(terminal, dataDir, status),
    await examinePort(status),
    ...examineRemoved(status),
    ...examineSharedCounts(status),
    examineProxy(terminal),
    await examineCa(terminal),
    ...(await examineProviders(control, output)),
    ...(await examineEnvironment(control)),
    ...(await examineRefusals(control)),
    ...(await examineClients(terminal, control)),
  ];
}

/** Checks only whether the folder is writable; any other problem would have prevented opening the control plane. */
function examineFolder(dataDir: string): Finding {
  const { problem } = prepareDataFolder(dataDir);
  const message = problem === null ? `${dataDir} can be written` : `${dataDir} cannot be written: ${problem}`;
  return { name: 'data folder', ok: problem === null, message };
}

/** Empty unless SLUICE_STORE names a database. */
async function examineStore({ env }: Terminal): Promise<Finding[]> {
  const { store } = readEnvironment(env);
  if (store === undefined) return [];
  const { examineDatabase } = await import('../store/postgres/examine.ts');
  return [{ name: 'database', ...(await examineDatabase(store, env)) }];
}

async function examineSecrets(terminal: Terminal, dataDir: string, status: StatusView): Promise<Finding> {
  const { passphrase, secrets, sessionBus, store: database } = readEnvironment(terminal.env);
  // The control plane could be opened, so the key is the right one.
  if (database !== undefined || status.secretStoreKind === 'database') {
    return { name: 'secrets', ok: true, message: status.secretStore ?? 'in the database, if they are encrypted' };
  }
  const { openSecretStore } = await import('../secrets/open-secret-store.ts');
  try {
    const { store, choice, notices } = await openSecretStore({ dataDir, passphrase, sessionBus, prefer: secrets });
    if (notices.length > 0) return { name: 'secrets', ok: false, message: notices.join(' ') };
    const names = await store.list();
    return { name: 'secrets', ok: true, message: `${choice ?? store.description} ${names.length} stored.` };
  } catch (error) {
    return { name: 'secrets', ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

async function examinePort(status: StatusView): Promise<Finding> {
  const { settings } = status;
  if (status.baseUrl) return { name: 'port', ok: true, message: `Sluice answers at ${describeAddress(status)}` };
  const holder = await describeHolder(settings.host, settings.port);
  if (!holder) return { name: 'port', ok: true, message: `${settings.port} is free; Sluice is not running` };
  return { name: 'port', ok: false, message: `${settings.port} is taken by ${holder.text}` };
}

/** Reported as ok, because nothing is broken. */
function examineRemoved({ removedFields }: StatusView): Finding[] {
  return removedFields.map((message) => ({ name: 'removed', ok: true, message }));
}

function examineSharedCounts({ sharedCounts }: StatusView): Finding[] {
  if (sharedCounts === null) return [];
  const ok = sharedCounts.problem === null;
  return [{ name: 'shared limits', ok, message: describeSharedCounts(sharedCounts) }];
}

function examineProxy({ env }: Terminal): Finding {
  const { httpsProxy, httpProxy, noProxy } = readEnvironment(env).proxies;
  if (!httpsProxy && !httpProxy) return { name: 'proxy', ok: true, message: 'none; providers are reached directly' };
  const proxies = [httpsProxy, httpProxy].filter((proxy) => proxy !== undefined);
  const broken = proxies.find((proxy) => !URL.canParse(proxy));
  if (broken !== undefined) return { name: 'proxy', ok: false, message: 'HTTPS_PROXY or HTTP_PROXY is not a URL' };
  const hosts = [...new Set(proxies.map((proxy) => new URL(proxy).host))].join(', ');
  const unusable = bypassEntries(noProxy ?? '').filter((entry) => parseBypass(entry) === null);
  if (unusable.length > 0) {
    const advice = 'use names, addresses, ranges such as 10.0.0.0/8 or patterns such as 10.*';
    return {
      name: 'proxy',
      ok: false,
      message: `NO_PROXY has entries without effect: ${unusable.join(', ')}; ${advice}`,
    };
  }
  return { name: 'proxy', ok: true, message: `${hosts}${noProxy ? `, not for ${noProxy}` : ''}` };
}

async function examineCa({ env }: Terminal): Promise<Finding> {
  const path = env.NODE_EXTRA_CA_CERTS;
  if (!path) return { name: 'ca', ok: true, message: 'the certificate authorities built into Node' };
  try {
    const count = (await readFile(path, 'utf8')).split('-----BEGIN CERTIFICATE-----').length - 1;
    return { name: 'ca', ok: count > 0, message: `NODE_EXTRA_CA_CERTS: ${path} contains ${count} certificates` };
  } catch (error) {
    return { name: 'ca', ok: false, message: `NODE_EXTRA_CA_CERTS: ${path}: ${describeFileProblem(error)}` };
  }
}

async function examineProviders(control: Control, output: Output): Promise<Finding[]> {
  const providers = await control.query({ type: 'providers' });
  if (providers.length === 0) return [{ name: 'providers', ok: true, message: 'none; the built-in demo answers' }];
  const findings: Finding[] = [];
  const progress = output.progress();
  for (const { id, enabled } of providers) {
    const name = `provider ${id}`;
    if (!enabled) {
      findings.push({ name, ok: true, message: 'switched off' });
      continue;
    }
    progress.at(`provider ${id} is being called`);
    const test = await control.query({ type: 'provider-test', id });
    findings.push({ name, ok: test.ok, message: renderShown(describeTest(test), plainLook) });
  }
  progress.end();
  return findings;
}

async function examineEnvironment(control: Control): Promise<Finding[]> {
  const credentials = await control.query({ type: 'environment-credentials' });
  return credentials.map(({ preset, variable }) => ({
    name: 'environment',
    ok: true,
    message: `${variable} is set but not used; to use it: provider add ${preset} --credential-ref env:${variable}`,
  }));
}

/** Reported as ok, because it is not a problem of Sluice, but a client may have a wrong key. */
async function examineRefusals(control: Control): Promise<Finding[]> {
  const refusals = await recentRefusals(control);
  return refusals.map((refusal) => ({ name: 'refused', ok: true, message: describeRefusal(refusal) }));
}

/** Reported as ok, because it costs tokens but breaks nothing. */
async function examineClients(terminal: Terminal, control: Control): Promise<Finding[]> {
  const { examineToolSearch } = await import('./examine-claude-code.ts');
  const message = await examineToolSearch(terminal, await clientOrigin(control));
  return message === null ? [] : [{ name: 'claude-code', ok: true, message }];
}
