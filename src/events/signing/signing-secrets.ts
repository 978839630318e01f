import type { Secrets } from '../../store/index.ts'

/** The secrets of a subscription as they are stored. */
export interface StoredSecrets {
  readonly subscriptionId: string
  /** Sealed. */
  readonly secret: string
  /** Sealed list of those that were replaced. */
  readonly previousSecrets: string | null
}

/** A secret that was replaced. */
export interface PreviousSecret {
  readonly secret: string
  /** Until when it signs too, by the database's clock. */
  readonly until: number
}

/** Signatures at most beside the newest one: a header has to stay short. */
export const mostPrevious = 4

/** Where the sealed secret of a subscription stands. */
export function secretPlace(id: string) {
  return { table: 'waypost_subscription', row: id, column: 'secret' } as const
}

function previousPlace(id: string) {
  return { table: 'waypost_subscription', row: id, column: 'previous_secrets' } as const
}

/** Every secret that signs now, the newest first. @throws WP_STORE_SEALED */
export function openSigningSecrets(
  secrets: Pick<Secrets, 'unseal'>,
  stored: StoredSecrets,
  now: number,
): readonly string[] {
  const newest = secrets.unseal(stored.secret, secretPlace(stored.subscriptionId))
  return [newest, ...openPrevious(secrets, stored, now).map((one) => one.secret)]
}

/**
 * Seals what signs beside a new secret until then at the longest: the one that it replaces, and those before.
 * @returns undefined where that would be too many
 */
export function sealPrevious(
  secrets: Secrets,
  stored: StoredSecrets,
  { now, until }: { now: number; until: number },
): string | null | undefined {
  if (until <= now) return null
  const replaced = { secret: secrets.unseal(stored.secret, secretPlace(stored.subscriptionId)), until }
  const before = openPrevious(secrets, stored, now).map((one) => ({ ...one, until: Math.min(one.until, until) }))
  const previous = [replaced, ...before]
  if (previous.length > mostPrevious) return undefined
  return secrets.seal(JSON.stringify(previous), previousPlace(stored.subscriptionId))
}

function openPrevious(secrets: Pick<Secrets, 'unseal'>, stored: StoredSecrets, now: number): readonly PreviousSecret[] {
  const { previousSecrets, subscriptionId } = stored
  if (previousSecrets === null) return []
  const previous = JSON.parse(secrets.unseal(previousSecrets, previousPlace(subscriptionId))) as PreviousSecret[]
  return previous.filter(({ until }) => until > now)
}

/** What opens sealed values. */
export type Opener = Pick<Secrets, 'unseal'>

const most = 10_000

/**
 * Keeps what was opened last, as long as a worker runs: to open a secret costs more than to sign with it. A secret that
 * is replaced is sealed as another text.
 */
export function rememberSecrets(secrets: Opener): Opener {
  const opened = new Map<string, { readonly row: string; readonly column: string; readonly text: string }>()
  return {
    unseal(sealed, place) {
      const known = opened.get(sealed)
      if (known !== undefined && known.row === place.row && known.column === place.column) return known.text
      const text = secrets.unseal(sealed, place)
      if (opened.size >= most) opened.delete(opened.keys().next().value!)
      opened.set(sealed, { row: place.row, column: place.column, text })
      return text
    },
  }
}
