import { plural } from './plural.ts'

/** How much access ended: `2 valid tokens, 1 session`. */
export function describeEnded({ tokens, sessions }: { tokens: number; sessions: number }): string {
  const counted = plural(tokens, 'valid token')
  return sessions === 0 ? counted : `${counted}, ${plural(sessions, 'session')}`
}
