/** The events that webhooks report. */
export const webhookEvents = ['budget', 'session-budget', 'provider-down', 'provider-up', 'new-version'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];
