import type { Location, Method } from '../definition/index.ts'
import type { Diagnostic, Variables } from '../kit/index.ts'
import { errors } from './errors.ts'
import { readBackendSettings } from './read-host-settings.ts'

/** The parts of a definition that are checked. */
export interface HtmlRoutes {
  readonly routes: readonly {
    readonly path: string
    readonly methods: readonly Pick<Method, 'method' | 'html' | 'at'>[]
  }[]
  /** The pages of a folder may have scripts. */
  readonly static?: Readonly<Record<string, { readonly folder: string; readonly at: Location }>>
}

/** Pages with scripts should not share the origin of the backend, whose users have many rights. */
export function warnOfSharedOrigin(
  { routes, static: folders = {} }: HtmlRoutes,
  variables: Variables,
): readonly Diagnostic[] {
  const { mode, url } = readBackendSettings(variables)
  if (mode === 'off' || url !== undefined) return []
  for (const { path, methods } of routes) {
    const method = methods.find(({ html }) => html === 'trusted')
    if (method === undefined) continue
    return [warn(`${method.method} ${path}`, method.at, method.method.length)]
  }
  const [folder] = Object.values(folders)
  return folder === undefined ? [] : [warn(`The folder "${folder.folder}"`, folder.at, folder.folder.length)]
}

function warn(name: string, { file, line, column }: Location, length: number): Diagnostic {
  const { code, message, hint = '' } = errors.WP_HOST_SHARED_ORIGIN({ name })
  const range = { start: { line, column }, end: { line, column: column + length } }
  return { code, severity: 'warning', message, hint, file, range }
}
