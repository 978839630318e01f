import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Secrets } from '../../store/index.ts'
import { keyOf } from './signature.ts'

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

/** The location of a subscription's encrypted secret, or of the replaced ones. */
export function secretLocation(id: string, column: 'secret' | 'previous_secrets' = 'secret') {
  return { table: 'waypost_subscription', row: id, column } as const
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
  return secrets.seal(JSON.stringify(previous), secretLocation(stored.subscriptionId, 'previous_secrets'))
}

function openPrevious(secrets: SecretOpener, stored: StoredSecrets, now: number): readonly PreviousSecret[] {
  const { previousSecrets, subscriptionId } = stored
  if (previousSecrets === null) return []
  const previous = JSON.parse(
    secrets.unseal(previousSecrets, secretLocation(subscriptionId, 'previous_secrets')),
  ) as PreviousSecret[]
  return previous.filter(({ until }) => until > now)
}

/** Decrypts encrypted values. */
export type SecretOpener = Pick<Secrets, 'unseal'>

const maxKept = 10_000

/**
 * Makes a function that returns every key that signs now, newest first. Keeps opened keys, because opening one costs more
 * than signing with it. A replaced secret has another encrypted text, so they never become stale.
 * @throws WP_STORE_SEALED
 */
export function makeKeyring(secrets: SecretOpener): (stored: StoredSecrets, now: number) => readonly KeyObject[] {
  const kept = new Map<string, StoredSecrets & { readonly keys: readonly { key: KeyObject; until: number }[] }>()
  return (stored, now) => {
    const { subscriptionId, secret, previousSecrets } = stored
    let found = kept.get(secret)
    if (found?.subscriptionId !== subscriptionId || found.previousSecrets !== previousSecrets) {
      const newest = { secret: secrets.unseal(secret, secretLocation(subscriptionId)), until: Infinity }
      const all = [newest, ...openPrevious(secrets, stored, now)]
      const keys = all.map(({ secret, until }) => ({ key: createSecretKey(keyOf(secret)), until }))
      found = { subscriptionId, secret, previousSecrets, keys }
      if (kept.size >= maxKept) kept.delete(kept.keys().next().value!)
      kept.set(secret, found)
    }
    return found.keys.filter(({ until }) => until > now).map(({ key }) => key)
  }
}
