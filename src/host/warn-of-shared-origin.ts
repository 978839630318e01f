import type { Method } from '../definition/index.ts'
import type { Diagnostic, Variables } from '../kit/index.ts'
import { errors } from './errors.ts'
import { readBackendSettings } from './read-host-settings.ts'

/** The parts of a definition that are checked. */
export interface HtmlRoutes {
  readonly routes: readonly {
    readonly path: string
    readonly methods: readonly Pick<Method, 'method' | 'html' | 'at'>[]
  }[]
}

/** Pages with scripts should not share the origin of the backend, whose users have many rights. */
export function warnOfSharedOrigin({ routes }: HtmlRoutes, variables: Variables): readonly Diagnostic[] {
  const { mode, url } = readBackendSettings(variables)
  if (mode === 'off' || url !== undefined) return []
  for (const { path, methods } of routes) {
    const method = methods.find(({ html }) => html === 'trusted')
    if (method === undefined) continue
    const { file, line, column } = method.at
    const { code, message, hint = '' } = errors.WP_HOST_SHARED_ORIGIN({ name: `${method.method} ${path}` })
    const range = { start: { line, column }, end: { line, column: column + method.method.length } }
    return [{ code, severity: 'warning', message, hint, file, range }]
  }
  return []
}
