import { version } from '../kit/index.ts'
import { errors } from './errors.ts'
import type { Manifest } from './manifest.ts'

/**
 * Checks that this version can serve a release. An older version would ignore manifest keys that it does not know.
 * @throws WP_RELEASE_NEWER
 */
export function assertServable({ waypost: built }: Pick<Manifest, 'waypost'>, own = version): void {
  if (isNewer(built, own)) throw errors.WP_RELEASE_NEWER({ built, own })
}

/** Whether a version is newer than another. Compares major, minor and patch. */
export function isNewer(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number))
  for (let index = 0; index < 3; index++) {
    const difference = (a![index] ?? 0) - (b![index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
