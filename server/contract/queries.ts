/** The queries of the control plane and their results. No result contains a secret. */
import { z } from 'zod';
import type { AliasView, GroupPreviewView, GroupView, KeyView, ModelView, RouteView } from './access-views.ts';
import type { CacheView } from './answer-cache.ts';
import { isTimeZone } from './calendar.ts';
import type { CassetteView } from './cassette.ts';
import type { AdoptPreview, ConfigChange, ImportRefusal, TeamPresetPreview } from './change-views.ts';
import { adoptedText } from './command-fields.ts';
import { connectShape, sessionId } from './commands.ts';
import { comparisonPattern, outcomes, statusPattern } from './comparison.ts';
import { type Config, configSchema, groupSchema, idSchema } from './config.ts';
import type { ConnectClientView, ConnectPreview } from './connect-views.ts';
import { type Found, findGroupsShape, findKeysShape, maxReported } from './find.ts';
import { usageDimensions } from './ledger.ts';
import type { LimitMeter } from './limits.ts';
import { operations } from './operations.ts';
import type { PanelView } from './panel-view.ts';
import { type Person, personId } from './people.ts';
import type { AuditEntry, PersonView, ScimView, TokenView } from './people-views.ts';
import type { DetectedServer, EnvironmentCredential, Preset } from './preset.ts';
import type { PriceListView } from './price-views.ts';
import type { ProbeReport } from './probe.ts';
import type { ProviderView } from './provider-views.ts';
import type {
  ClientUseView,
  FirstByteView,
  PinnedView,
  RefusalView,
  RequestCount,
  RequestInFull,
  RequestView,
  UsageStepView,
  UsageView,
} from './request-views.ts';
import type { RequestText, SessionInFull, SessionView } from './session-views.ts';
import type { HostView, NetworkView, StatusView } from './status-views.ts';
import { type TeamPreset, writtenTeamPresetSchema } from './team-preset.ts';

/**
 * Queries about people who sign in, and their API tokens. All except `who-am-i` and `join-preset` fail with `not_found`
 * if sign-in is not set up.
 *
 * Members of `querySchema`.
 */
const peopleQueries = [
  /** The signed-in person. */
  z.strictObject({ type: z.literal('who-am-i') }),
  /** The team preset offered to those who join this gateway. Fails with `invalid_value` if it cannot be imported. */
  z.strictObject({ type: z.literal('join-preset') }),
  /** All people who have signed in, with their present rights. */
  z.strictObject({ type: z.literal('people') }),
  /** The caller's API tokens; for an administrator, those of all people. */
  z.strictObject({ type: z.literal('tokens') }),
  /** SCIM, by which the identity provider pushes people and groups. */
  z.strictObject({ type: z.literal('scim') }),
  /** The audit list: who changed what. */
  z.strictObject({
    type: z.literal('audit'),
    /** Only changes by this person; null: by the administrator of the machine. */
    personId: personId.nullable().optional(),
    limit: z.number().int().min(1).max(1_000).default(100),
    /** The `next` of the previous page. */
    before: z.number().int().optional(),
  }),
] as const;

/** Columns by which requests can be sorted, besides time. */
const requestSorts = ['duration', 'cost', 'tokens', 'first-byte'] as const;

const timeMs = z.number().int().nonnegative();

const comparison = z.string().regex(comparisonPattern).optional();

/** All given conditions must hold. */
export const requestFilterSchema = z.strictObject({
  keyId: z.string().optional(),
  groupId: z.string().optional(),
  /** The requested name or the upstream's. */
  model: z.string().optional(),
  provider: z.string().optional(),
  /** As lists call it (`Claude Code`), its id (`contract/clients`), or its `user-agent` as in `RequestRecord`. */
  client: z.string().optional(),
  capability: z.enum(operations).optional(),
  /**
   * What became of the request (`Verdict`), or `failed` for the failures of usage, which are `error`, `stream-broken` and
   * `interrupted`. Neither what Sluice `refused` nor a `fault` that was switched on is among them.
   */
  outcome: z.enum(outcomes).optional(),
  /** An exact status, a class such as `4xx`, or a comparison such as `>=500`. */
  status: z.string().regex(statusPattern).optional(),
  /** Compared with a number: `>0.05`. In US dollars; only requests that have ended and whose cost is known. */
  cost: comparison,
  durationMs: comparison,
  firstByteMs: comparison,
  /** Of input and output. */
  tokens: comparison,
  /**
   * Searches ids (their beginning), names of models, providers and clients, error codes and messages, captured bodies, and
   * notes of pinned requests. In texts and bodies it matches whole words, and the last word also as the beginning of a word.
   */
  search: z.string().max(200).optional(),
  /** Only pinned requests, of which `search` looks at ids, names and notes. */
  pinned: z.literal(true).optional(),
  /** Unix milliseconds; `untilMs` is exclusive. */
  sinceMs: timeMs.optional(),
  untilMs: timeMs.optional(),
});

/** All given conditions must hold. */
const sessionFilterSchema = z.strictObject({
  keyId: z.string().optional(),
  groupId: z.string().optional(),
  /** As for requests. */
  client: z.string().optional(),
  /** Unix milliseconds: sessions with a request since then. */
  sinceMs: timeMs.optional(),
  /** Sessions with a running request. */
  running: z.literal(true).optional(),
  /** Sessions whose requests are refused, because they were stopped or are over their budget. */
  stopped: z.literal(true).optional(),
});

/** The IANA name of a time zone, such as `Europe/Berlin`; determines where days begin. Absent: UTC. */
const zone = z.string().max(64).refine(isTimeZone, { error: 'not the name of a time zone' }).optional();

const overTime = {
  sinceMs: timeMs,
  untilMs: timeMs,
  /**
   * Steps begin at midnight, and the last one of a day may be shorter. With a multiple of 15 minutes, the range is rounded
   * outward to quarters of an hour. Others are computed from individual requests, so use them for short ranges only.
   */
  stepMs: z.number().int().min(60_000),
  zone,
};
const longestSeries = 400;
const isShortSeries = ({ sinceMs, untilMs, stepMs }: { sinceMs: number; untilMs: number; stepMs: number }) =>
  (untilMs - sinceMs) / stepMs <= longestSeries;
const tooLong = { error: `more than ${longestSeries} steps`, path: ['stepMs'] };

export const querySchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('status') }),
  z.strictObject({ type: z.literal('providers') }),
  /** Services that `provider.add` can fill in by name. */
  z.strictObject({ type: z.literal('presets') }),
  /** Looks for model servers on their usual ports on this machine. */
  z.strictObject({ type: z.literal('local-servers') }),
  /** Unused credentials in Sluice's environment: variable names, never values. */
  z.strictObject({ type: z.literal('environment-credentials') }),
  /**
   * Connects to the provider and reports the first step that fails. Ends with a small call to `model`; without one, to
   * a model that is known to cost less than a cent for it, if there is one.
   */
  z.strictObject({ type: z.literal('provider-test'), id: idSchema, model: z.string().min(1).max(512).optional() }),
  z.strictObject({ type: z.literal('keys') }),
  z.strictObject({ type: z.literal('find-keys'), ...findKeysShape }),
  z.strictObject({ type: z.literal('groups') }),
  z.strictObject({ type: z.literal('find-groups'), ...findGroupsShape }),
  /** The effect of a group that is not saved yet. */
  z.strictObject({
    type: z.literal('group-preview'),
    group: groupSchema.extend({ id: idSchema.default('preview') }),
  }),
  /** The response caches of the groups that have one. */
  z.strictObject({ type: z.literal('caches') }),
  /** The cassettes of groups and keys. */
  z.strictObject({ type: z.literal('cassettes') }),
  z.strictObject({ type: z.literal('aliases') }),
  /** The models that a key or a group may use. With both, the key must belong to the group; one is required. */
  z.strictObject({ type: z.literal('models'), key: idSchema.optional(), group: idSchema.optional() }),
  /** The prices of all models that providers are known to serve or that were used with them, except the demo's. */
  z.strictObject({ type: z.literal('prices') }),
  /** How a request for one model would be routed. */
  z.strictObject({
    type: z.literal('route'),
    key: idSchema.optional(),
    group: idSchema.optional(),
    model: z.string().min(1).max(512),
  }),
  z.strictObject({
    type: z.literal('requests'),
    filter: requestFilterSchema.prefault({}),
    limit: z.number().int().min(1).max(1000).default(100),
    /** The `next` of the previous page. */
    before: z.number().int().optional(),
    /**
     * Default: newest first. Otherwise the newest 10,000 matches are sorted and the first `limit` returned; `before`
     * and `next` do not apply.
     */
    sort: z.strictObject({ by: z.enum(requestSorts), isAscending: z.boolean().default(false) }).optional(),
  }),
  /** Reads at most 200,000 requests. */
  z.strictObject({ type: z.literal('request-count'), filter: requestFilterSchema.prefault({}) }),
  /** The distinct values that occur in the ledger's requests, at most 2,000. */
  z.strictObject({
    type: z.literal('request-names'),
    of: z.enum(['model', 'client', 'provider', 'capability', 'status']),
  }),
  z.strictObject({ type: z.literal('request'), id: z.string().max(100) }),
  /** The pinned requests, newest first. */
  z.strictObject({ type: z.literal('pins') }),
  /** What captured requests say, in a few words. Those without a capture are left out. */
  z.strictObject({ type: z.literal('request-texts'), ids: z.array(z.string().max(100)).max(50) }),
  z.strictObject({
    type: z.literal('sessions'),
    filter: sessionFilterSchema.prefault({}),
    limit: z.number().int().min(1).max(200).default(50),
    /** The `next` of the previous page. */
    before: z.number().int().optional(),
  }),
  /** Fails with `not_found`. */
  z.strictObject({ type: z.literal('session'), id: sessionId }),
  /** Requests without a valid key. They have no ledger rows, but up to 10,000 counts by reason and minute. */
  z.strictObject({ type: z.literal('refusals'), sinceMs: timeMs.default(0) }),
  /** The clients (`user-agent`) of the latest 100,000 requests, with their keys. */
  z.strictObject({ type: z.literal('clients') }),
  /** What the panel at the tray shows. `sinceMs`: the beginning of its day. */
  z.strictObject({ type: z.literal('panel'), sinceMs: timeMs, zone }),
  /** The clients whose configuration files `connect.apply` can change. */
  z.strictObject({ type: z.literal('connect-clients') }),
  /** The changes that `connect.apply` would write. */
  z.strictObject({ type: z.literal('connect-preview'), ...connectShape }),
  /** The changes that `connect.undo` would write. */
  z.strictObject({ type: z.literal('connect-undo-preview'), client: connectShape.client }),
  z.strictObject({
    type: z.literal('usage'),
    by: z.enum(usageDimensions),
    /** Restricts the result to these names; cannot be used by day. */
    names: z.array(z.string()).max(maxReported).optional(),
    /** Both are rounded outward to quarters of an hour. */
    sinceMs: timeMs.optional(),
    untilMs: timeMs.optional(),
    zone,
  }),
  z
    .strictObject({
      type: z.literal('usage-over-time'),
      /** `day`: only the total. */
      by: z.enum(usageDimensions),
      /** Restricts the result to these names, as in `usage`. */
      names: z.array(z.string()).max(20).optional(),
      /** Only the use of the caller's own keys; computed from individual requests. */
      own: z.literal(true).optional(),
      ...overTime,
    })
    .refine(isShortSeries, tooLong),
  /** Time to the first byte. */
  z
    .strictObject({
      type: z.literal('first-byte-times'),
      /** Also grouped by this dimension, in `named`. `day`: only the total. */
      by: z.enum(usageDimensions).default('day'),
      /** Restricts the result to these names, as in `usage`. */
      names: z.array(z.string()).max(20).optional(),
      ...overTime,
    })
    .refine(isShortSeries, tooLong),
  /** The configuration for export: references and hashes, no secrets. */
  z.strictObject({ type: z.literal('config') }),
  /** What `config.import` with this configuration would change. */
  z.strictObject({ type: z.literal('import-preview'), config: configSchema }),
  /** What `config.adopt` with this text would add, with masked keys. */
  z.strictObject({ type: z.literal('adopt-preview'), text: adoptedText }),
  /** The changes that `team-preset.apply` would make; with `as: managed`, those of a policy or built-in preset. */
  z.strictObject({
    type: z.literal('team-preset-preview'),
    preset: writtenTeamPresetSchema,
    as: z.enum(['imported', 'managed']).default('imported'),
  }),
  ...peopleQueries,
  /** Data folder, Node version and platform. */
  z.strictObject({ type: z.literal('host') }),
  z.strictObject({ type: z.literal('network') }),
]);

export type Query = z.infer<typeof querySchema>;
export type QueryInput = z.input<typeof querySchema>;
export type QueryType = Query['type'];
export type QueryMap = { [Q in Query as Q['type']]: Q };
export type QueryInputMap = { [Q in QueryInput as Q['type']]: Q };
export type SessionFilterInput = z.infer<typeof sessionFilterSchema>;
export type RequestFilterInput = z.infer<typeof requestFilterSchema>;

export interface QueryResults {
  status: StatusView;
  providers: ProviderView[];
  presets: readonly Preset[];
  'local-servers': DetectedServer[];
  /** In the presets' order. */
  'environment-credentials': EnvironmentCredential[];
  'provider-test': ProbeReport;
  keys: KeyView[];
  'find-keys': Found<KeyView>;
  groups: GroupView[];
  'find-groups': Found<GroupView>;
  'group-preview': GroupPreviewView;
  caches: CacheView[];
  cassettes: CassetteView[];
  aliases: AliasView[];
  models: ModelView[];
  prices: PriceListView;
  route: RouteView;
  /**
   * `next` is the `before` of the next page, or null. `sortedOf`: number of sorted requests, if not all that match.
   * `repairedPercent`: of a search while its index is being repaired; until it is, older requests may be missing. Otherwise null.
   */
  requests: { requests: RequestView[]; next: number | null; sortedOf: number | null; repairedPercent: number | null };
  'request-count': RequestCount;
  /** In alphabetical order. */
  'request-names': string[];
  request: RequestInFull;
  pins: PinnedView[];
  /** Latest first, by the last request. `next` is the `before` of the next page, or null. */
  sessions: { sessions: SessionView[]; next: number | null };
  'request-texts': RequestText[];
  session: SessionInFull;
  /** Latest first. */
  refusals: RefusalView[];
  /** Most recently used first. */
  clients: ClientUseView[];
  panel: PanelView;
  'connect-clients': ConnectClientView[];
  'connect-preview': ConnectPreview;
  'connect-undo-preview': ConnectPreview;
  /** Days are in chronological order; everything else is sorted by cost and then by requests, highest first. */
  usage: UsageView[];
  /** In chronological order. */
  'usage-over-time': UsageStepView[];
  'first-byte-times': FirstByteView;
  config: { revision: number; config: Config };
  /** `enteredAnew` as in `TeamPresetPreview`. If there are `refusals`, the import would fail. */
  'import-preview': { revision: number; changes: ConfigChange[]; refusals: ImportRefusal[]; enteredAnew: string[] };
  'adopt-preview': AdoptPreview;
  'team-preset-preview': TeamPresetPreview;
  /** `person`: null for the administrator of the machine. `signsIn`: whether sign-in is set up. */
  /** `limitUse`: of the person, over all of their keys. */
  'who-am-i': { person: Person | null; signsIn: boolean; limitUse: LimitMeter[] };
  'join-preset': { preset: TeamPreset | null };
  people: PersonView[];
  tokens: TokenView[];
  scim: ScimView;
  /** Latest first. `next` is the `before` of the next page, or null. */
  audit: { entries: AuditEntry[]; next: number | null };
  host: HostView;
  network: NetworkView;
}

export type QueryResult = QueryResults[QueryType];
