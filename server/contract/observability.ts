/** Settings of the output for other tools: metrics, OpenTelemetry and webhooks. All of it is off by default. */
import { z } from 'zod';
import { hasUserInfo, isSecretHeader, looksLikeSecretInHeader } from './secret-shape.ts';
import { webhookEvents } from './webhook-events.ts';

const reference = /^(?:env|file):.+$/s;

/** Whether a value is a reference to a secret. */
export function isReference(value: string): boolean {
  return reference.test(value);
}

/** A reference to a secret; the configuration itself holds none. */
const secretReference = z.string().regex(reference, 'use env:NAME or file:PATH');

/** Not quoted in errors, because it may contain a secret. */
const toolUrl = z
  .string()
  .max(2_000)
  .refine(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'use an address that begins with http:// or https://',
  )
  .refine((text) => !hasUserInfo(text), 'leave out the user and password');

const endpointUrl = toolUrl.refine((text) => !/[?#]/.test(text), 'leave out the query and the fragment');

/** By header name. A value is plain text, or `env:NAME` or `file:PATH`, which are required for secrets. */
const headers = z
  .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'use a header name'), z.string().min(1))
  .superRefine((all, context) => {
    for (const [name, value] of Object.entries(all)) {
      if (isReference(value)) continue;
      if (/[\r\n\0]/.test(value)) context.addIssue({ code: 'custom', path: [name], message: 'use a single line' });
      else if (isSecretHeader(name) || looksLikeSecretInHeader(value)) {
        context.addIssue({ code: 'custom', path: [name], message: 'use env:NAME or file:PATH for a secret' });
      }
    }
  });

export const metricsSetting = z.enum(['off', 'on']);

/** Whether a resolved address can be used. */
export function isToolUrl(text: string): boolean {
  return toolUrl.safeParse(text).success;
}

export const telemetrySchema = z.strictObject({
  endpoint: endpointUrl
    .nullable()
    .default(null)
    .describe(
      'The OTLP/HTTP base URL, such as `http://127.0.0.1:4318`; `/v1/traces`, `/v1/metrics` and `/v1/logs` are appended. Null: off.',
    ),
  headers: headers.default({}).describe('Sent with each export.'),
  protocol: z
    .enum(['http/protobuf', 'http/json'])
    .default('http/protobuf')
    .describe('The encoding; most collectors take both.'),
  conventions: z
    .enum(['current', '1.41'])
    .default('current')
    .describe(
      "Which names of OpenTelemetry's conventions for generative AI: `current`, or those of 1.41, for dashboards made with an earlier version of Sluice. `1.41` goes with the next release.",
    ),
  traces: z.boolean().default(true).describe('Send a trace of each request.'),
  metrics: z.boolean().default(true).describe('Send metrics. Jaeger and Langfuse accept traces only.'),
  audit: z
    .boolean()
    .default(false)
    .describe(
      'Send each new entry of the audit list as a log record, where people sign in. It names people and addresses.',
    ),
});
export type TelemetrySettings = z.infer<typeof telemetrySchema>;

/** Webhook addresses of chat services contain a long random part and let anyone who knows them post. */
const secretPartLength = 20;

function hasSecretPart(address: string): boolean {
  return address
    .split(/[/?&=#]/)
    .some((part) => part.length >= secretPartLength && /^[\w-]+$/.test(part) && /\d/.test(part));
}

const webhookUrl = z
  .string()
  .max(2_000)
  .superRefine((text, context) => {
    if (isReference(text)) return;
    if (!isToolUrl(text)) {
      const message =
        'use an address that begins with http:// or https://, without user and password, or env:NAME or file:PATH';
      context.addIssue({ code: 'custom', message });
    } else if (hasSecretPart(text)) {
      context.addIssue({ code: 'custom', message: 'this address looks like a secret: use env:NAME or file:PATH' });
    }
  });

const webhookSchema = z.strictObject({
  url: webhookUrl.describe(
    'An address, or `env:NAME` or `file:PATH` of one that is itself a secret, such as those of chat services.',
  ),
  events: z
    .array(z.enum(webhookEvents))
    .min(1)
    .default([...webhookEvents])
    .describe('The events to send; default: all.'),
  secret: secretReference.optional().describe('The key for the signature. Absent: deliveries are not signed.'),
});
export type WebhookSettings = z.infer<typeof webhookSchema>;

/** A token that may only read `/metrics`. */
export const metricsTokenSetting = secretReference.nullable();
export const webhooksSetting = z.array(webhookSchema).max(20);
