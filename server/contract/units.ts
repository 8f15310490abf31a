/** Units of time and size, in milliseconds and bytes. */

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
/** Usage is summed up by quarters of an hour. */
export const quarterMs = 15 * minuteMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;
export const gibibyte = 1024 * mebibyte;
export const megabyte = 1_000_000;
