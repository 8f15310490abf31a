/** Settings of the whole program. */
import { z } from 'zod';
import { sessionBudgetSchema } from './limit-settings.ts';
import { metricsSetting, metricsTokenSetting, telemetrySchema, webhooksSetting } from './observability.ts';
import { peopleSchema } from './people.ts';
import { milliseconds } from './policy.ts';
import { priceFieldNames, priceRenewalModes } from './price-views.ts';
import { sharedCountsSchema } from './replica-limits.ts';
import { dayMs, gibibyte, mebibyte } from './units.ts';

/** PostgreSQL counts days in 32 bits; nobody needs more than this. */
const days = z.number().int().positive().max(1_000_000);

export const settingsSchema = z.strictObject({
  port: z.number().int().min(0).max(65_535).default(4810).describe('The port to listen on. 0: any free one.'),
  host: z.string().min(1).default('127.0.0.1').describe("The address to listen on. `0.0.0.0`: all of this machine's."),
  allowedHosts: z.array(z.string().min(1)).default([]).describe('Host header values to accept besides loopback names.'),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe('Browser origins that may call `/v1`, such as `https://app.example`.'),
  demo: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .describe('The built-in demo provider; `auto`: on until the first provider is added.'),
  limits: z
    .strictObject({
      jsonBodyBytes: z
        .number()
        .int()
        .positive()
        .default(64 * 1024 * 1024)
        .describe('The largest JSON body of a request; larger ones are refused with 413.'),
      multipartBodyBytes: z
        .number()
        .int()
        .positive()
        .default(512 * 1024 * 1024)
        .describe('The largest upload; larger ones are refused with 413.'),
    })
    .prefault({})
    .describe('The largest bodies of requests.'),
  admission: z
    .strictObject({
      running: z
        .number()
        .int()
        .positive()
        .default(1_000)
        .describe('Requests running at the same time. One group may use at most nine tenths of them.'),
      waiting: z
        .number()
        .int()
        .min(0)
        .default(500)
        .describe('Requests waiting; further ones are refused with 429. 0: no waiting.'),
      waitMs: milliseconds.default(10_000).describe('The longest time a request may wait.'),
      bytes: z
        .number()
        .int()
        .min(0)
        .default(0)
        .describe(
          "Bytes of request bodies and whole answers held in memory. 0: a quarter of the machine's memory, at most 2 GiB.",
        ),
    })
    .prefault({})
    .describe('Load limits over all keys. Requests beyond them wait in a queue that is fair between groups and keys.'),
  sharedCounts: sharedCountsSchema.prefault({}).describe('For replicas that count limits together (`serve --shared`).'),
  keepAliveCommentMs: z
    .number()
    .int()
    .min(0)
    .max(dayMs)
    .default(15_000)
    .describe(
      "Interval of SSE comments while an upstream's stream is silent, so that no proxy closes the connection. 0: none.",
    ),
  replyHeaders: z.boolean().default(true).describe('Add `x-sluice-provider` and `x-sluice-attempts` to each response.'),
  ledger: z
    .strictObject({
      retentionDays: days.default(90).describe('How long requests are kept: times, usage and cost, no content.'),
      retentionRows: z
        .number()
        .int()
        .positive()
        .default(1_000_000)
        .describe('The most requests that are kept; the oldest are deleted.'),
    })
    .prefault({})
    .describe('The request log.'),
  capture: z
    .strictObject({
      maxBytes: z
        .number()
        .int()
        .positive()
        .default(256 * 1024)
        .describe('The largest captured body; longer ones are cut off.'),
      retentionDays: days.default(7).describe('How long captured headers and bodies are kept.'),
      totalBytes: z
        .number()
        .int()
        .min(mebibyte)
        .default(gibibyte)
        .describe('Limit for all captured headers and bodies; the oldest are deleted.'),
      recent: z
        .enum(['unasked', 'on', 'off'])
        .default('off')
        .describe(
          'Whether the newest 50 requests of a laptop are kept in memory until Sluice ends, wherever capture is off. `unasked`: until the guide of a new data folder has asked.',
        ),
    })
    .prefault({})
    .describe('What is captured of requests.'),
  guide: z
    .enum(['open', 'done'])
    .default('done')
    .describe('Whether the window shows its first steps. Open in a new data folder, until they are done or skipped.'),
  sessions: z
    .enum(['off', 'named', 'all'])
    .default('named')
    .describe(
      'Which requests are shown together as sessions. `named`: those whose client names one, or that continue a stored response. `all`: also those that continue a conversation, which costs about 20 µs of CPU per request. `off`: none.',
    ),
  sessionBudget: sessionBudgetSchema.prefault({}).describe('Limits for the cost of each session.'),
  jobs: z
    .strictObject({
      retentionDays: days
        .default(30)
        .describe('How long the owner of a video or a stored response is remembered after its last use.'),
    })
    .prefault({})
    .describe('Upstream resources that later calls must reach again.'),
  keptResponses: z
    .strictObject({
      retentionHours: z
        .number()
        .min(0)
        .max(720)
        .default(24)
        .describe('How long responses can be continued and retrieved. 0 disables storage.'),
      bytesPerGroup: z
        .number()
        .int()
        .positive()
        .default(64 * 1024 * 1024)
        .describe('Limit per group; the oldest responses are evicted. One response may take at most an eighth.'),
    })
    .prefault({})
    .describe('Storage of responses that Sluice produces by translation, which no provider stores.'),
  extraCaFiles: z.array(z.string().min(1)).default([]).describe('PEM files with additional certificate authorities.'),
  systemCa: z.boolean().default(true).describe("Also trust the operating system's certificate authorities."),
  noProxy: z
    .array(z.string().min(1))
    .default([])
    .describe('Hosts reached without a proxy, in addition to NO_PROXY and in its format.'),
  prices: z
    .record(z.string(), z.partialRecord(z.enum(priceFieldNames), z.number().nonnegative()))
    .default({})
    .describe(
      'Price overrides in US dollars, by model name or `provider/model`; see `server/models/prices.json` for the units.',
    ),
  renewPrices: z
    .enum(priceRenewalModes)
    .default('off')
    .describe(
      "Read LiteLLM's public table of prices once a day. `ask`: what it changes is shown and waits; `apply`: it applies by itself, unless a price falls to 0 or changes more than fivefold. `off`: the prices that came with this version.",
    ),
  currency: z
    .strictObject({
      code: z
        .string()
        .regex(/^[A-Z]{3}$/)
        .describe('ISO 4217, such as `EUR`.'),
      perDollar: z
        .number()
        .positive()
        .nullable()
        .default(null)
        .describe('What a dollar costs in it. Null: the rate of the European Central Bank, read once a day.'),
    })
    .nullable()
    .default(null)
    .describe(
      'The currency in which amounts are shown. The ledger, limits, prices and exports stay in US dollars. Null: US dollars.',
    ),
  metrics: metricsSetting.default('off').describe('Prometheus metrics at `/metrics`.'),
  metricsToken: metricsTokenSetting
    .default(null)
    .describe('`env:NAME` or `file:PATH` of a token that may only read `/metrics`. Null: only the admin token may.'),
  telemetry: telemetrySchema.prefault({}).describe('OpenTelemetry: traces, metrics and the audit list over OTLP/HTTP.'),
  webhooks: webhooksSetting.default([]).describe('Addresses that are told of events.'),
  people: peopleSchema
    .nullable()
    .default(null)
    .describe(
      'Who may sign in, and their rights. Null: sign-in is off, and the window is opened by addresses that `sluice window` prints.',
    ),
  joinPreset: z
    .record(z.string(), z.unknown())
    .nullable()
    .default(null)
    .describe('The team preset that is offered to laptops that join this gateway.'),
});

export type Settings = z.infer<typeof settingsSchema>;
