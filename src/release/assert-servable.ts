import { version } from '../kit/index.ts'
import { errors } from './errors.ts'
import type { Manifest } from './manifest.ts'

/** A release may say what an older Waypost than the one that built it would pass over. @throws WP_RELEASE_NEWER */
export function assertServable({ waypost: built }: Pick<Manifest, 'waypost'>, own = version): void {
  if (isNewer(built, own)) throw errors.WP_RELEASE_NEWER({ built, own })
}

/** Whether the one version is newer than the other: compares major, minor and patch. */
export function isNewer(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number))
  for (let place = 0; place < 3; place++) {
    const difference = (a![place] ?? 0) - (b![place] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
