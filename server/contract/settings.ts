/** Settings of the whole program. */
import { z } from 'zod';
import { metricsSetting, metricsTokenSetting, telemetrySchema, webhooksSetting } from './observability.ts';
import { peopleSchema } from './people.ts';
import { milliseconds } from './policy.ts';
import { priceFieldNames } from './price-views.ts';
import { sharedCountsSchema } from './replica-limits.ts';
import { sessionBudgetSchema } from './session-budget.ts';

export const settingsSchema = z.strictObject({
  port: z.number().int().min(0).max(65_535).default(4810),
  host: z.string().min(1).default('127.0.0.1'),
  /** Host header values to accept besides loopback names. */
  allowedHosts: z.array(z.string().min(1)).default([]),
  /** Browser origins that may call `/v1`, such as `https://app.example`. */
  allowedOrigins: z.array(z.string().min(1)).default([]),
  /** The built-in demo provider; `auto`: on until the first provider is added. */
  demo: z.enum(['auto', 'on', 'off']).default('auto'),
  limits: z
    .strictObject({
      jsonBodyBytes: z
        .number()
        .int()
        .positive()
        .default(64 * 1024 * 1024),
      multipartBodyBytes: z
        .number()
        .int()
        .positive()
        .default(512 * 1024 * 1024),
    })
    .prefault({}),
  /** Load limits over all keys. Requests beyond them wait in a queue that is fair between groups and keys. */
  admission: z
    .strictObject({
      /** Requests running at the same time. One group may use at most nine tenths of them. */
      running: z.number().int().positive().default(1_000),
      /** Requests waiting; further ones are refused with 429. 0: no waiting. */
      waiting: z.number().int().min(0).default(500),
      /** The longest time a request may wait. */
      waitMs: milliseconds.default(10_000),
      /**
       * Bytes of request bodies and whole answers held in memory. 0: a quarter of the machine's memory, at most 2 GB.
       */
      bytes: z.number().int().min(0).default(0),
    })
    .prefault({}),
  /** For replicas that count limits together (`serve --shared`). */
  sharedCounts: sharedCountsSchema.prefault({}),
  /** Interval of SSE comments while an upstream's stream is silent, so that no proxy closes the connection. 0: none. */
  keepAliveCommentMs: z.number().int().min(0).default(15_000),
  /** Add `x-sluice-provider` and `x-sluice-attempts` to each response. */
  replyHeaders: z.boolean().default(true),
  ledger: z
    .strictObject({
      retentionDays: z.number().int().positive().default(90),
      retentionRows: z.number().int().positive().default(1_000_000),
    })
    .prefault({}),
  capture: z
    .strictObject({
      maxBytes: z
        .number()
        .int()
        .positive()
        .default(256 * 1024),
      retentionDays: z.number().int().positive().default(7),
    })
    .prefault({}),
  /**
   * Which requests are shown together as sessions. `named`: those whose client names one, or that continue a stored
   * response. `all`: also those that continue a conversation, which costs about 20 µs of CPU per request. `off`: none.
   */
  sessions: z.enum(['off', 'named', 'all']).default('named'),
  /** Limits for the cost of each session. */
  sessionBudget: sessionBudgetSchema.prefault({}),
  /** How long the owner of a video or a stored response is remembered after its last use. */
  jobs: z.strictObject({ retentionDays: z.number().int().positive().default(30) }).prefault({}),
  /** Storage of responses that Sluice produces by translation, which no provider stores. */
  keptResponses: z
    .strictObject({
      /** How long responses can be continued and retrieved. 0 disables storage. */
      retentionHours: z.number().min(0).max(720).default(24),
      /** Limit per group; the oldest responses are evicted. One response may take at most an eighth. */
      bytesPerGroup: z
        .number()
        .int()
        .positive()
        .default(64 * 1024 * 1024),
    })
    .prefault({}),
  /** PEM files with additional certificate authorities. */
  extraCaFiles: z.array(z.string().min(1)).default([]),
  /** Also trust the operating system's certificate authorities. */
  systemCa: z.boolean().default(true),
  /** Hosts reached without a proxy, in addition to NO_PROXY and in its format. */
  noProxy: z.array(z.string().min(1)).default([]),
  /** Price overrides in US dollars, by model name or `provider/model`; see `server/models/prices.json` for the units. */
  prices: z.record(z.string(), z.partialRecord(z.enum(priceFieldNames), z.number().nonnegative())).default({}),
  /** Prometheus metrics at `/metrics`. */
  metrics: metricsSetting.default('off'),
  /** `env:NAME` or `file:PATH` of a token that may only read `/metrics`. Null: only the admin token may. */
  metricsToken: metricsTokenSetting.default(null),
  /** OpenTelemetry: traces and metrics over OTLP/HTTP. */
  telemetry: telemetrySchema.prefault({}),
  webhooks: webhooksSetting.default([]),
  /**
   * Who may sign in, and their rights. Null: sign-in is off, and the window is opened by addresses that `sluice window`
   * prints.
   */
  people: peopleSchema.nullable().default(null),
  /** The team preset that is offered to laptops that join this gateway. `checkJoinPreset` checks its content. */
  joinPreset: z.record(z.string(), z.unknown()).nullable().default(null),
});

export type Settings = z.infer<typeof settingsSchema>;
