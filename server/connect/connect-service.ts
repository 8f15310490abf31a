/** Previews, applies and undoes changes of clients' configuration files. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createTwoFilesPatch } from 'diff';
import { withoutVersion } from '../contract/clients/client-guide.ts';
import type {
  ConnectClientView,
  ConnectFileChange,
  ConnectPreview,
  StrongerSetting,
} from '../contract/connect-views.ts';
import { controlError } from '../contract/control-error.ts';
import { GatewayError } from '../contract/errors.ts';
import { redactSecretShapes } from '../contract/secret-shape.ts';
import { type AppliedRecord, type AppliedStore, createAppliedStore } from './applied-store.ts';
import {
  type ClientFile,
  type ConfigurableClient,
  configurableClients,
  type WantedConnection,
} from './client-files.ts';
import { type HomeFile, homeOf, placeOf, removeHomeFile, writeHomeFile } from './home-file.ts';
import { type FilePlan, findFile, planConnect, planDisconnect, rivalsInFile } from './plan-client-files.ts';
import type { Sought } from './rival-settings.ts';
import { strongerSettings, surroundings } from './stronger-settings.ts';

interface ConnectPorts {
  /** Where records and backups are kept; null to keep them in memory. */
  dataFolder: string | null;
  env: Readonly<Record<string, string | undefined>>;
  now(): number;
  /** Whether this is the key's secret now. */
  isInForce(keyId: string, secret: string): boolean;
}

/** `secret` is called only if it is to be written into a file. */
interface WantedClient extends Omit<WantedConnection, 'secret' | 'keyFile'> {
  client: string;
  keyId: string;
  /** Rejects with a GatewayError if Sluice does not keep it. */
  secret(): Promise<string>;
}

interface ConnectService {
  list(baseUrl: string): Promise<ConnectClientView[]>;
  preview(wanted: WantedClient): Promise<ConnectPreview>;
  /**
   * Rejects with a GatewayError and changes nothing, unless `fingerprint` matches the change that would be made now.
   */
  apply(wanted: WantedClient, fingerprint: string): Promise<void>;
  previewUndo(client: string): Promise<ConnectPreview>;
  undo(client: string, fingerprint: string): Promise<void>;
}

export function createConnectService(ports: ConnectPorts): ConnectService {
  const home = homeOf(ports.env);
  const store = createAppliedStore(ports.dataFolder, home);
  const around = surroundings(ports.env, home, null);
  const strongerThan = async ({ id, files }: ConfigurableClient, record: AppliedRecord, baseUrl: string) => {
    const sought = await soughtBy(record, baseUrl);
    const own = files.map((file) => rivalsInFile(file, { home, env: ports.env, record }, sought));
    return [...(await Promise.all(own)).flat(), ...(await strongerSettings(id, around, sought))];
  };
  const view = async (client: ConfigurableClient, baseUrl: string): Promise<ConnectClientView> => {
    const { id, name } = client;
    const files = client.files.filter(({ isOnlyCleared }) => !isOnlyCleared);
    const [foundFiles, record] = await Promise.all([
      Promise.all(files.map((file) => findFile(home, ports.env, file).catch(() => null))),
      store.read(id),
    ]);
    const applied = record && {
      appliedAt: record.appliedAt,
      keyId: record.keyId,
      model: record.model,
      hasOldKey: writtenSecrets(record, foundFiles).some((secret) => !ports.isInForce(record.keyId, secret)),
      stronger: await strongerThan(client, record, baseUrl),
    };
    return {
      client: id,
      name,
      files: foundFiles.map((file, index) => file?.shown ?? usualPath(files[index])),
      applied,
    };
  };
  const planApply = async (wanted: WantedClient) => {
    const client = clientOf(wanted.client);
    const { secret, keyFile } = await keptKey(client, wanted, store);
    const record = await store.read(client.id);
    const connection = { ...wanted, keyFile, secret: keyFile === null ? secret : '' };
    const plans = client.files.map(async (file) => {
      const now = await findFile(home, ports.env, file);
      return planConnect({ client: client.name, file, now, wanted: connection }, record);
    });
    const isKeyKept = secret !== '';
    const sought = { origin: withoutVersion(wanted.baseUrl), model: wanted.model, isKeyKept, secret };
    const [planned, stronger] = await Promise.all([Promise.all(plans), strongerSettings(client.id, around, sought)]);
    const kept = planned.filter((plan) => plan !== null);
    return { client, plans: kept, earlier: record, stronger, keyFile, secret };
  };
  const planUndo = async (id: string) => {
    const client = clientOf(id);
    const record = await store.read(id);
    if (!record) throw controlError('not_found', { code: 'client-not-connected', client: client.name });
    const plans = record.files.map((each, index) => planDisconnect(client.files[index], home, each));
    const kept = (await Promise.all(plans)).filter((plan) => plan !== null);
    return { client, plans: kept, earlier: record, stronger: [], keyFile: record.keyFile, secret: '' };
  };
  return {
    list: (baseUrl) => Promise.all(configurableClients.map((client) => view(client, baseUrl))),
    preview: async (wanted) => previewOf(await planApply(wanted), await placeOf(home)),
    previewUndo: async (client) => previewOf(await planUndo(client), await placeOf(home)),
    async apply(wanted, fingerprint) {
      const planned = await planApply(wanted);
      refuseChanged(planned, fingerprint);
      const { keyId, model } = wanted;
      const head = { client: planned.client.id, appliedAt: ports.now(), keyId, model };
      await applyPlans(planned, store, head);
    },
    async undo(client, fingerprint) {
      const planned = await planUndo(client);
      refuseChanged(planned, fingerprint);
      for (const plan of planned.plans) await writePlan(plan);
      await store.remove(client);
    },
  };
}

/** The keys of Sluice that the change has put into files, and that are still there. */
function writtenSecrets({ files }: AppliedRecord, found: readonly (HomeFile | null)[]): string[] {
  return files.flatMap(({ path, before, applied }) => {
    const now = found.find((file) => file?.path === path)?.text ?? '';
    return (applied.match(/sk-sluice-[\w-]{20,}/g) ?? []).filter(
      (secret) => !before?.includes(secret) && now.includes(secret),
    );
  });
}

async function soughtBy({ keyFile, model }: AppliedRecord, baseUrl: string): Promise<Sought> {
  const isKeyKept = keyFile !== null;
  return { origin: withoutVersion(baseUrl), model, isKeyKept, secret: await keyIn(keyFile) };
}

/** Undefined if there is no such file. */
async function keyIn(keyFile: string | null): Promise<string | undefined> {
  return keyFile === null ? undefined : readFile(keyFile, 'utf8').catch(() => undefined);
}

/**
 * The secret, and the file of its own in which it will be. The secret is empty if the client has to read it from its
 * variable: it knows no other way, or Sluice has not kept the key.
 */
async function keptKey(
  { id, keyPlace, keyVariable }: ConfigurableClient,
  wanted: Pick<WantedClient, 'secret'>,
  store: AppliedStore,
): Promise<Pick<Planned, 'secret' | 'keyFile'>> {
  const keyFile = keyPlace === 'file' ? await store.keyFile(id) : null;
  if (keyPlace === null || (keyPlace === 'file' && keyFile === null)) return { secret: '', keyFile: null };
  try {
    return { secret: await wanted.secret(), keyFile };
  } catch (error) {
    if (keyVariable === null || !(error instanceof GatewayError) || error.code !== 'not_found') throw error;
    return { secret: '', keyFile: null };
  }
}

/** The usual path, for a file that cannot be read. */
function usualPath(file: ClientFile | undefined): string {
  return file === undefined ? '' : `~/${file.folder === '' ? '' : `${file.folder}/`}${file.names[0]}`;
}

interface Planned {
  client: ConfigurableClient;
  plans: FilePlan[];
  /** The change that was applied before. */
  earlier: AppliedRecord | null;
  /** Settings of other places that come before those of the plans. */
  stronger: StrongerSetting[];
  /** In which the key is written, or from which it is removed; null if it is in none of its own. */
  keyFile: string | null;
  /** Empty if it is written nowhere. */
  secret: string;
}

function clientOf(id: string): ConfigurableClient {
  const client = configurableClients.find((each) => each.id === id);
  if (!client) throw controlError('not_found', { code: 'client-not-configurable', client: id });
  return client;
}

function previewOf(planned: Planned, place: string): ConnectPreview {
  const files = planned.plans.map(({ now, after }) => {
    const change = { path: now.shown, before: now.text, after };
    return { path: now.shown, action: actionOf(now.text, after), diff: now.text === after ? '' : showDiff(change) };
  });
  const { id } = planned.client;
  const keyVariable = planned.secret === '' ? planned.client.keyVariable : null;
  const overruled = planned.plans.flatMap(({ now, rivals }) =>
    rivals.map((setting) => ({ place: now.shown, setting })),
  );
  const { stronger, keyFile } = planned;
  return { client: id, files, overruled, stronger, place, keyVariable, keyFile, fingerprint: fingerprintOf(planned) };
}

function actionOf(before: string | null, after: string | null): ConnectFileChange['action'] {
  if (before === after) return 'none';
  if (before === null) return 'create';
  return after === null ? 'remove' : 'change';
}

function fingerprintOf({ client, plans, keyFile, secret }: Planned): string {
  const facts = plans.map(({ now, after }) => [now.path, now.text, after]);
  return createHash('sha256')
    .update(JSON.stringify([client.id, facts, keyFile, secret]))
    .digest('base64url');
}

function refuseChanged(planned: Planned, fingerprint: string): void {
  if (fingerprintOf(planned) !== fingerprint) throw controlError('conflict', { code: 'client-file-changed' });
}

/** Stores the record before writing, so that every write can be undone. */
async function applyPlans(
  { plans, earlier, keyFile, secret }: Planned,
  store: AppliedStore,
  head: Omit<AppliedRecord, 'files' | 'keyFile'>,
): Promise<void> {
  const recordWith = (madeFolders: (string | null)[]) => ({
    ...head,
    keyFile,
    files: plans.flatMap(({ record, madeFolder }, index) =>
      record ? [{ ...record, madeFolder: madeFolder ?? madeFolders[index] ?? null }] : [],
    ),
  });
  const held = await keyIn(earlier?.keyFile ?? null);
  await store.write(recordWith([]), secret);
  const madeFolders: (string | null)[] = [];
  try {
    for (const plan of plans) madeFolders.push(await writePlan(plan));
  } catch (error) {
    for (const { now } of plans.slice(0, madeFolders.length)) await restoreFile(now);
    await (earlier ? store.write(earlier, held) : store.remove(head.client));
    throw error;
  }
  if (madeFolders.some((folder) => folder !== null)) await store.write(recordWith(madeFolders));
}

/** Resolves with the topmost folder that had to be created, or null. */
async function writePlan({ now, after, mode, madeFolder }: FilePlan): Promise<string | null> {
  if (after === now.text) return null;
  if (after !== null) return writeHomeFile(now, after, mode);
  await removeHomeFile(now, madeFolder);
  return null;
}

async function restoreFile(file: HomeFile): Promise<void> {
  if (file.text === null) await removeHomeFile(file, null);
  else await writeHomeFile(file, file.text, file.mode ?? 0o600);
}

/** A line that sets a key, token or password. A value that begins with `$` or `{` refers to a variable. */
const secretLine = /((?:key|token|secret|password)["']?[ \t]*[:=][ \t]*["']?)([^\s"',{}$[\]][^\s"',]{7,})/i;
const variableName = /^[A-Z][A-Z0-9_]*$/;

interface Change {
  path: string;
  before: string | null;
  after: string | null;
}

/** A unified diff for people. Anything that looks like a secret is hidden, including in the context lines. */
function showDiff({ path, before, after }: Change): string {
  const names = { old: before === null ? '/dev/null' : path, new: after === null ? '/dev/null' : path };
  const diff = createTwoFilesPatch(names.old, names.new, before ?? '', after ?? '', undefined, undefined, {
    context: 3,
  });
  const lines = diff.split('\n').filter((line) => !line.startsWith('\\ No newline'));
  // Removes the line above it, which other tools use to split patches.
  return lines
    .slice(lines.findIndex((line) => line.startsWith('--- ')))
    .map(withoutSecret)
    .join('\n');
}

function withoutSecret(line: string): string {
  return redactSecretShapes(line).replace(secretLine, (whole, name, value) =>
    variableName.test(value) ? whole : `${name}…`,
  );
}
