import type { Manifest } from './manifest.ts'

/** The scopes without which some private method of a release cannot be called, or some event not be subscribed to. */
export function neededScopes({ routes, events }: Manifest): readonly string[] {
  const methods = routes.flatMap((route) => route.methods).filter((method) => !method.public)
  const named = [...methods, ...Object.values(events)].flatMap(({ scopes }) => scopes ?? [])
  return [...new Set(named)].toSorted()
}
