import type { Secrets } from '../../store/index.ts'

/** The secrets of a subscription as they are stored. */
export interface StoredSecrets {
  readonly subscriptionId: string
  /** Encrypted. */
  readonly secret: string
  /** Encrypted list of the replaced secrets. */
  readonly previousSecrets: string | null
}

/** A secret that was replaced. */
export interface PreviousSecret {
  readonly secret: string
  /** When it stops signing, by the database's clock. */
  readonly until: number
}

/** The most signatures beside the newest one, so that the header stays short. */
export const maxPrevious = 4

/** The location of a subscription's encrypted secret. */
export function secretLocation(id: string) {
  return { table: 'waypost_subscription', row: id, column: 'secret' } as const
}

function previousLocation(id: string) {
  return { table: 'waypost_subscription', row: id, column: 'previous_secrets' } as const
}

/**
 * Decrypts every secret that signs now, newest first.
 * @throws WP_STORE_SEALED
 */
export function openSigningSecrets(
  secrets: Pick<Secrets, 'unseal'>,
  stored: StoredSecrets,
  now: number,
): readonly string[] {
  const newest = secrets.unseal(stored.secret, secretLocation(stored.subscriptionId))
  return [newest, ...openPrevious(secrets, stored, now).map((one) => one.secret)]
}

/** Returns when the last replaced secret stops signing; undefined if none signs. */
export function findPreviousEnd(secrets: SecretOpener, stored: StoredSecrets, now: number): number | undefined {
  return openPrevious(secrets, stored, now)[0]?.until // the newest first
}

/**
 * Encrypts the secrets that sign beside a new one, at most until `until`: the replaced secret and those before it.
 * @returns undefined if there would be too many
 */
export function sealPrevious(
  secrets: Secrets,
  stored: StoredSecrets,
  { now, until }: { now: number; until: number },
): string | null | undefined {
  if (until <= now) return null
  const replaced = { secret: secrets.unseal(stored.secret, secretLocation(stored.subscriptionId)), until }
  const before = openPrevious(secrets, stored, now).map((one) => ({ ...one, until: Math.min(one.until, until) }))
  const previous = [replaced, ...before]
  if (previous.length > maxPrevious) return undefined
  return secrets.seal(JSON.stringify(previous), previousLocation(stored.subscriptionId))
}

function openPrevious(secrets: Pick<Secrets, 'unseal'>, stored: StoredSecrets, now: number): readonly PreviousSecret[] {
  const { previousSecrets, subscriptionId } = stored
  if (previousSecrets === null) return []
  const previous = JSON.parse(secrets.unseal(previousSecrets, previousLocation(subscriptionId))) as PreviousSecret[]
  return previous.filter(({ until }) => until > now)
}

/** Decrypts encrypted values. */
export type SecretOpener = Pick<Secrets, 'unseal'>

const maxCached = 10_000

/**
 * Caches decrypted secrets: decrypting one costs more than signing with it. A replaced secret has another encrypted
 * text, so entries never become stale.
 */
export function cacheSecrets(secrets: SecretOpener): SecretOpener {
  const opened = new Map<string, { readonly row: string; readonly column: string; readonly text: string }>()
  return {
    unseal(sealed, location) {
      const cached = opened.get(sealed)
      if (cached !== undefined && cached.row === location.row && cached.column === location.column) return cached.text
      const text = secrets.unseal(sealed, location)
      if (opened.size >= maxCached) opened.delete(opened.keys().next().value!)
      opened.set(sealed, { row: location.row, column: location.column, text })
      return text
    },
  }
}
