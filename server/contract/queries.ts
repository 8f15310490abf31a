/** Every question about Sluice, as data, with its answer. Answers are views: none holds a secret. */
import { z } from 'zod';
import type { AliasView, GroupPreviewView, GroupView, KeyView, ModelView, RouteView } from './access-views.ts';
import type { ConfigChange, ImportRefusal, TeamPresetPreview } from './change-views.ts';
import { type Config, configSchema, groupSchema, idSchema } from './config.ts';
import { type CapturedExchange, usageDimensions } from './ledger.ts';
import type { DetectedServer, EnvironmentCredential, Preset } from './preset.ts';
import type { ProbeReport } from './probe.ts';
import type { ProviderView } from './provider-views.ts';
import type {
  CapturedBody,
  ClientUseView,
  FirstByteView,
  RefusalView,
  RequestView,
  UsageStepView,
  UsageView,
} from './request-views.ts';
import type { HostView, NetworkView, StatusView } from './status-views.ts';
import { writtenTeamPresetSchema } from './team-preset.ts';

const moment = z.number().int().nonnegative();

/** All of them must hold. */
export const requestFilterSchema = z.strictObject({
  keyId: z.string().optional(),
  groupId: z.string().optional(),
  /** As asked for or as served. */
  model: z.string().optional(),
  provider: z.string().optional(),
  outcome: z.enum(['ok', 'error', 'client-gone', 'stream-broken', 'interrupted', 'running']).optional(),
  /** Unix milliseconds; `untilMs` is exclusive. */
  sinceMs: moment.optional(),
  untilMs: moment.optional(),
});

/** What local time is ahead of UTC; decides where days begin. */
const utcOffsetMinutes = z.number().int().min(-900).max(900).optional();

const overTime = {
  sinceMs: moment,
  untilMs: moment,
  /** Below a quarter of an hour only for short times: it is counted from each request. */
  stepMs: z.number().int().min(60_000),
  utcOffsetMinutes,
};
const longestSeries = 400;
const isShortSeries = ({ sinceMs, untilMs, stepMs }: { sinceMs: number; untilMs: number; stepMs: number }) =>
  (untilMs - sinceMs) / stepMs <= longestSeries;
const tooLong = { error: `more than ${longestSeries} steps`, path: ['stepMs'] };

export const querySchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('status') }),
  z.strictObject({ type: z.literal('providers') }),
  /** Services that `provider.add` knows by name. */
  z.strictObject({ type: z.literal('presets') }),
  /** Looks on the usual ports of this machine. */
  z.strictObject({ type: z.literal('local-servers') }),
  /** Credentials that Sluice's environment holds and that are not used: names, never values. */
  z.strictObject({ type: z.literal('environment-credentials') }),
  /** Asks a provider for real and says which hop fails. */
  z.strictObject({ type: z.literal('provider-test'), id: idSchema }),
  z.strictObject({ type: z.literal('keys') }),
  z.strictObject({ type: z.literal('groups') }),
  /** What a group would mean that is not saved. */
  z.strictObject({
    type: z.literal('group-preview'),
    group: groupSchema.extend({ id: idSchema.default('preview') }),
  }),
  z.strictObject({ type: z.literal('aliases') }),
  /** What a key or a group lists. One of the two is needed; with both, the key must be of that group. */
  z.strictObject({ type: z.literal('models'), key: idSchema.optional(), group: idSchema.optional() }),
  /** The same, for one model name. */
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
    /** The `next` of the page before. */
    before: z.number().int().optional(),
  }),
  z.strictObject({ type: z.literal('request'), id: z.string().max(100) }),
  /** Requests without a valid key: they have no rows and are counted by reason, some 10,000 minutes of them. */
  z.strictObject({ type: z.literal('refusals'), sinceMs: moment.default(0) }),
  /** What sent the newest hundred thousand requests, with which keys. */
  z.strictObject({ type: z.literal('clients') }),
  z.strictObject({
    type: z.literal('usage'),
    by: z.enum(usageDimensions),
    sinceMs: moment.optional(),
    untilMs: moment.optional(),
    utcOffsetMinutes,
  }),
  z
    .strictObject({
      type: z.literal('usage-over-time'),
      /** `day`: all together. */
      by: z.enum(usageDimensions),
      /** Only these, as `usage` names them. */
      names: z.array(z.string()).max(20).optional(),
      ...overTime,
    })
    .refine(isShortSeries, tooLong),
  /** How long the first byte took. */
  z
    .strictObject({
      type: z.literal('first-byte-times'),
      /** Tells these apart too, in `named`. `day`: only all together. */
      by: z.enum(usageDimensions).default('day'),
      /** Only these, as `usage` names them. */
      names: z.array(z.string()).max(20).optional(),
      ...overTime,
    })
    .refine(isShortSeries, tooLong),
  /** The configuration for export: references and hashes, no secrets. */
  z.strictObject({ type: z.literal('config') }),
  /** What `config.import` with this configuration would change. Nothing is changed. */
  z.strictObject({ type: z.literal('import-preview'), config: configSchema }),
  /**
   * What `team-preset.apply` would do; or, `as` managed, what the preset would do as a policy or built in. Nothing is changed.
   */
  z.strictObject({
    type: z.literal('team-preset-preview'),
    preset: writtenTeamPresetSchema,
    as: z.enum(['imported', 'managed']).default('imported'),
  }),
  /** Where Sluice keeps its data and what it runs on. */
  z.strictObject({ type: z.literal('host') }),
  z.strictObject({ type: z.literal('network') }),
]);

export type Query = z.infer<typeof querySchema>;
export type QueryInput = z.input<typeof querySchema>;
export type QueryType = Query['type'];
export type QueryMap = { [Q in Query as Q['type']]: Q };
export type QueryInputMap = { [Q in QueryInput as Q['type']]: Q };
export type RequestFilterInput = z.infer<typeof requestFilterSchema>;

export interface QueryResults {
  status: StatusView;
  providers: ProviderView[];
  presets: readonly Preset[];
  'local-servers': DetectedServer[];
  /** In the order of the presets. */
  'environment-credentials': EnvironmentCredential[];
  'provider-test': ProbeReport;
  keys: KeyView[];
  groups: GroupView[];
  'group-preview': GroupPreviewView;
  aliases: AliasView[];
  models: ModelView[];
  route: RouteView;
  /** Newest first; `next` is the `before` of the next page, null if there is none. */
  requests: { requests: RequestView[]; next: number | null };
  /** `capture`: headers and bodies, if they were kept. */
  request: {
    request: RequestView;
    capture: CapturedExchange<CapturedBody> | null;
  };
  /** The latest first. */
  refusals: RefusalView[];
  /** The one used last comes first. */
  clients: ClientUseView[];
  /** Days in order of time, all else by cost and then by requests, the most first. */
  usage: UsageView[];
  /** In order of time. */
  'usage-over-time': UsageStepView[];
  'first-byte-times': FirstByteView;
  config: { revision: number; config: Config };
  /** `enteredAnew`: as in `TeamPresetPreview`. With `refusals` the import would fail. */
  'import-preview': { revision: number; changes: ConfigChange[]; refusals: ImportRefusal[]; enteredAnew: string[] };
  'team-preset-preview': TeamPresetPreview;
  host: HostView;
  network: NetworkView;
}

export type QueryResult = QueryResults[QueryType];
