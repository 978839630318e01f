import { plural } from './plural.ts'

export interface Ended {
  readonly tokens: number
  readonly sessions: number
  readonly subscriptions?: number
  readonly clients?: number
}

/** How much access ended: `2 valid tokens, 1 session`. */
export function describeEnded({ tokens, sessions, subscriptions = 0, clients = 0 }: Ended): string {
  const others = [
    [sessions, 'session'],
    [clients, 'client'],
    [subscriptions, 'subscription'],
  ] as const
  const counted = others.filter(([count]) => count > 0).map(([count, what]) => plural(count, what))
  return [plural(tokens, 'valid token'), ...counted].join(', ')
}
