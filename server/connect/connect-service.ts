/** Previews, applies and undoes changes of clients' configuration files. */
import { createHash } from 'node:crypto';
import { withoutVersion } from '../contract/clients/client-guide.ts';
import type {
  ConnectClientView,
  ConnectFileChange,
  ConnectPreview,
  StrongerSetting,
} from '../contract/connect-views.ts';
import { controlError } from '../contract/control-error.ts';
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
import { showDiff } from './show-diff.ts';
import { strongerSettings, surroundings } from './stronger-settings.ts';

interface ConnectPorts {
  /** Where records and backups are kept; null to keep them in memory. */
  dataFolder: string | null;
  env: Readonly<Record<string, string | undefined>>;
  now(): number;
}

/** `secret` is called only if the client's file must contain it. */
interface WantedClient extends Omit<WantedConnection, 'secret'> {
  client: string;
  keyId: string;
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
  const strongerThan = async ({ id, files }: ConfigurableClient, sought: Sought): Promise<StrongerSetting[]> => {
    const own = files.map((file) => rivalsInFile(file, { home, env: ports.env }, sought));
    return [...(await Promise.all(own)).flat(), ...(await strongerSettings(id, around, sought))];
  };
  const view = async (client: ConfigurableClient, baseUrl: string): Promise<ConnectClientView> => {
    const { id, name } = client;
    const files = client.files.filter(({ isOnlyCleared }) => !isOnlyCleared);
    const [foundFiles, record] = await Promise.all([
      Promise.all(files.map((file) => findFile(home, ports.env, file).catch(() => null))),
      store.read(id),
    ]);
    const sought = { origin: withoutVersion(baseUrl), model: record?.model };
    const applied = record && {
      appliedAt: record.appliedAt,
      keyId: record.keyId,
      model: record.model,
      stronger: await strongerThan(client, sought),
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
    const secret = client.keyVariable === null ? await wanted.secret() : '';
    const record = await store.read(client.id);
    const plans = client.files.map(async (file) => {
      const now = await findFile(home, ports.env, file);
      return planConnect(
        { client: client.name, file, now, wanted: { ...wanted, secret } },
        record,
        client.keyVariable === null,
      );
    });
    const sought = { origin: withoutVersion(wanted.baseUrl), model: wanted.model };
    const [planned, stronger] = await Promise.all([Promise.all(plans), strongerSettings(client.id, around, sought)]);
    return { client, plans: planned.filter((plan) => plan !== null), earlier: record, stronger };
  };
  const planUndo = async (id: string) => {
    const client = clientOf(id);
    const record = await store.read(id);
    if (!record) throw controlError('not_found', { code: 'client-not-connected', client: client.name });
    const plans = record.files.map((each, index) => planDisconnect(client.files[index], home, each));
    return { client, plans: (await Promise.all(plans)).filter((plan) => plan !== null), earlier: record, stronger: [] };
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
  const { id, keyVariable } = planned.client;
  const overruled = planned.plans.flatMap(({ now, rivals }) =>
    rivals.map((setting) => ({ place: now.shown, setting })),
  );
  const { stronger } = planned;
  return { client: id, files, overruled, stronger, place, keyVariable, fingerprint: fingerprintOf(planned) };
}

function actionOf(before: string | null, after: string | null): ConnectFileChange['action'] {
  if (before === after) return 'none';
  if (before === null) return 'create';
  return after === null ? 'remove' : 'change';
}

function fingerprintOf({ client, plans }: Planned): string {
  const facts = plans.map(({ now, after }) => [now.path, now.text, after]);
  return createHash('sha256')
    .update(JSON.stringify([client.id, facts]))
    .digest('base64url');
}

function refuseChanged(planned: Planned, fingerprint: string): void {
  if (fingerprintOf(planned) !== fingerprint) throw controlError('conflict', { code: 'client-file-changed' });
}

/** Stores the record before writing, so that every write can be undone. */
async function applyPlans(
  { plans, earlier }: Planned,
  store: AppliedStore,
  head: Omit<AppliedRecord, 'files'>,
): Promise<void> {
  const recordWith = (madeFolders: (string | null)[]) => ({
    ...head,
    files: plans.flatMap(({ record, madeFolder }, index) =>
      record ? [{ ...record, madeFolder: madeFolder ?? madeFolders[index] ?? null }] : [],
    ),
  });
  await store.write(recordWith([]));
  const madeFolders: (string | null)[] = [];
  try {
    for (const plan of plans) madeFolders.push(await writePlan(plan));
  } catch (error) {
    for (const { now } of plans.slice(0, madeFolders.length)) await restoreFile(now);
    await (earlier ? store.write(earlier) : store.remove(head.client));
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
