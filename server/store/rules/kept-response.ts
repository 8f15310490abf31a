/**
 * A response that Sluice produced by translation, so that no provider stores it. The form of its id distinguishes it
 * from a response that is stored upstream.
 */

export interface KeptResponse {
  id: string;
  /** The only group that may use the response. */
  groupId: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** The response object that the client received, as JSON. */
  response: string;
  /** The complete `input`, including the conversation that it continues, as JSON. */
  input: string;
}
