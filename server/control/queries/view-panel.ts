/** The panel's view: made of what the window's queries answer, so that both say the same. */
import { concernsOf, mostAsked } from '../../contract/attention.ts';
import type { Found } from '../../contract/find.ts';
import { clientIdOf, windowId } from '../../contract/known-clients.ts';
import { findLocks, type Locks } from '../../contract/lock.ts';
import {
  mostPanelClients,
  mostPanelSessions,
  type PanelAttention,
  type PanelBudget,
  type PanelClient,
  type PanelModel,
  type PanelRemaining,
  type PanelView,
  panelRequests,
  panelSessionMs,
} from '../../contract/panel-view.ts';
import type { QueryMap } from '../../contract/queries.ts';
import type { ToldLimits } from '../../routing/health/told-limits.ts';
import { resolveRoute } from '../../routing/resolve.ts';
import type { CompiledGroup, CompiledKey } from '../../routing/snapshot.ts';
import type { ClientModelUse } from '../../store/rules/model-uses.ts';
import type { LedgerQueries } from '../../store/sqlite/queries.ts';
import type { LiveConfig } from '../live/live-config.ts';
import type { Views } from '../views/views.ts';

interface PanelPorts {
  live: Pick<LiveConfig, 'used' | 'snapshot'>;
  views: Pick<Views, 'all' | 'status' | 'findKeys' | 'findGroups' | 'limited' | 'meters'>;
  ledger: Pick<LedgerQueries, 'summarizeUsage' | 'listClientModels' | 'listSessions' | 'listRequests'>;
  toldLimits: Pick<ToldLimits, 'of'>;
  now(): number;
}

/** The models of a client that are shown. */
const mostModels = 4;

export async function viewPanel(ports: PanelPorts, { sinceMs, zone }: QueryMap['panel']): Promise<PanelView> {
  const { ledger, views } = ports;
  const { baseUrl, readOnly, capture, currency, team } = views.status();
  const [days, uses, { sessions }, { requests }] = await Promise.all([
    ledger.summarizeUsage({ by: 'day', sinceMs, ...(zone !== undefined && { zone }) }),
    ledger.listClientModels(sinceMs),
    ledger.listSessions({
      sinceMs: ports.now() - panelSessionMs,
      limit: mostPanelSessions,
      stopAtUsd: stopAtUsd(ports.live),
    }),
    ledger.listRequests({ limit: panelRequests }),
  ]);
  return {
    baseUrl,
    readOnly,
    capture,
    currency,
    attention: viewAttention(ports),
    // At most one, unless midnight passes meanwhile.
    today: days.at(-1) ?? null,
    clients: viewClients(uses, ports.live, findLocks(team.locks)),
    sessions,
    budgets: viewBudgets(views),
    remaining: viewRemaining(ports),
    requests,
  };
}

/** As Home does: of the keys and groups beyond the reported ones, those that need attention. */
function viewAttention({ views, now }: PanelPorts): PanelAttention {
  const all = views.all();
  const question = { needsAttention: true, limit: mostAsked };
  const keys = withOthers(all.keys, all.keyCount, () => views.findKeys(question));
  const groups = withOthers(all.groups, all.groupCount, () => views.findGroups(question));
  const concerns = concernsOf({ ...all, keys: keys.views, groups: groups.views }, now());
  return { count: concerns.length + keys.left + groups.left, isBad: concerns.some(({ isBad }) => isBad) };
}

function withOthers<View extends { id: string }>(reported: View[], count: number, find: () => Found<View>) {
  if (count <= reported.length) return { views: reported, left: 0 };
  const { found, total } = find();
  const ids = new Set(reported.map(({ id }) => id));
  return { views: [...reported, ...found.filter(({ id }) => !ids.has(id))], left: total - found.length };
}

/** The budget of each session. */
export const stopAtUsd = ({ snapshot }: Pick<LiveConfig, 'snapshot'>) => snapshot.settings.sessionBudget.stopAtUsd;

function viewBudgets(views: PanelPorts['views']): PanelBudget[] {
  const budgets = views.limited().flatMap((limited) => {
    if (limited.limits.budgets.length === 0) return [];
    const { scope, id, name } = limited;
    return views.meters(limited).flatMap((meter) => (meter.kind === 'budget' ? [{ scope, id, name, meter }] : []));
  });
  const shareOf = ({ meter }: PanelBudget) => meter.used / meter.amount;
  return budgets.sort((one, other) => shareOf(other) - shareOf(one));
}

function viewRemaining({ live, toldLimits }: PanelPorts): PanelRemaining[] {
  return live.used.config.providers.flatMap(({ id, name = id, enabled, credentials }) => {
    if (!enabled) return [];
    const used = credentials.filter((credential) => credential.enabled);
    const ids = credentials.length === 0 ? [null] : used.map((credential) => credential.id);
    return toldLimits.of(id, ids).map((limit) => {
      const own = used.find((credential) => credential.id === limit.credentialId);
      const credentialLabel = used.length > 1 ? (own?.label ?? limit.credentialId) : null;
      return { ...limit, provider: id, providerName: name, credentialLabel };
    });
  });
}

/** A client by its product, so that its versions are one, and by its key. */
interface SeenClient {
  name: string;
  latest: ClientModelUse;
  uses: ClientModelUse[];
}

function viewClients(uses: readonly ClientModelUse[], live: PanelPorts['live'], locks: Locks): PanelClient[] {
  const clients = seenClients(uses);
  const shared = new Set(live.used.config.aliases.map(({ name }) => name));
  const keys = new Map([...live.snapshot.keys.values()].map((key) => [key.id, key]));
  return clients.slice(0, mostPanelClients).map((seen): PanelClient => {
    const { client, keyId, lastUsedAt } = seen.latest;
    const key = keys.get(keyId ?? '') ?? null;
    const group = key && live.snapshot.groupOf(key);
    const others = clients.filter(({ name }) => name !== seen.name);
    const owns = (asker: string | null, model: string) =>
      keys.get(asker ?? '')?.aliases?.some(({ name }) => name === model) ?? false;
    /** Whom a change of what `model` means here would concern, too. */
    const isConcerned = (model: string) => (other: SeenClient) =>
      other.uses.some((use) => use.model === model) &&
      (owns(keyId, model) ? other.latest.keyId === keyId : !owns(other.latest.keyId, model));
    const modelOf = (model: string): PanelModel => ({
      model,
      requests: seen.uses.reduce((sum, use) => (use.model === model ? sum + use.requests : sum), 0),
      isAlias: group?.aliases.has(model) ?? shared.has(model),
      isOwn: owns(keyId, model),
      lock: shared.has(model) ? locks.changing('aliases', model, 'targets') : locks.adding('aliases'),
      target: key && group ? firstTarget(group, key, model) : null,
      sharedWith: namesOf(others.filter(isConcerned(model))),
    });
    return {
      client,
      product: clientIdOf(client),
      keyId,
      keyName: key?.name ?? null,
      hasOwnKey: !others.some((other) => other.latest.keyId === keyId),
      lastUsedAt,
      models: [...new Set(seen.uses.map(({ model }) => model))].slice(0, mostModels).map(modelOf),
    };
  });
}

/** Without the window. `uses` begin with the latest, and so do the clients and their uses. */
function seenClients(uses: readonly ClientModelUse[]): SeenClient[] {
  const seen = new Map<string, SeenClient>();
  for (const use of uses) {
    const name = clientIdOf(use.client) ?? use.client;
    if (name === windowId) continue;
    const id = JSON.stringify([name, use.keyId]);
    const client = seen.get(id);
    if (client) client.uses.push(use);
    else seen.set(id, { name, latest: use, uses: [use] });
  }
  return [...seen.values()];
}

const namesOf = (clients: readonly SeenClient[]) => [...new Set(clients.map(({ name }) => name))];

/** By the configuration alone: health decides anew for each request. */
function firstTarget(group: CompiledGroup, key: CompiledKey, model: string): PanelModel['target'] {
  try {
    const [target] = resolveRoute(group, key, model).targets;
    if (!target) return null;
    const { provider } = target;
    return { provider: provider.id, providerName: provider.name, model: target.model };
  } catch {
    // Such requests are refused.
    return null;
  }
}
