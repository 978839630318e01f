import { findReservedPath, parseDuration } from '../kit/index.ts'
import type { StaticFolder } from './definition.ts'
import { locationOf, type DefinitionContext } from './definition-context.ts'
import { entriesOf, textOf, valueOf, type Entry, type Node } from './node.ts'

const maxAge = '365d'

/** Reads the folders whose files are served as they are. Entries with reported errors are omitted. */
export function makeStatic(context: DefinitionContext, node: Node | undefined): Record<string, StaticFolder> {
  const made: [string, StaticFolder][] = []
  for (const entry of entriesOf(node)) {
    const isValid = checkPrefix(context, entry)
    const folder = readFolder(context, valueOf(entry.value, 'folder'))
    const maxAgeMs = readMaxAge(context, valueOf(entry.value, 'max_age'))
    const fallback = readName(context, valueOf(entry.value, 'fallback'), 'fallback')
    if (!isValid || folder === undefined) continue
    made.push([
      entry.key,
      {
        folder,
        ...(maxAgeMs !== undefined && { maxAgeMs }),
        ...(fallback !== undefined && { fallback }),
        at: locationOf(valueOf(entry.value, 'folder')!),
      },
    ])
  }
  return Object.fromEntries(made)
}

/** The path below which the files are, which has no parameters. */
function checkPrefix({ loading: { report } }: DefinitionContext, { key, keySpan }: Entry): boolean {
  const reserved = findReservedPath(key)
  if (reserved !== undefined) {
    report.add({ code: 'WP_DEFINITION_PATH_RESERVED', at: keySpan, parameters: { path: key, reserved } })
    return false
  }
  const segments = key === '/' ? [] : key.slice(1).split('/')
  const isPlain = key.startsWith('/') && segments.every((one) => /^[\w.~-]+$/.test(one) && !one.startsWith('.'))
  if (isPlain) return true
  const reason = 'files are below a path of letters, digits and - . _ ~, without parameters'
  const hint = 'Write for example /assets, or / for all paths that no route has'
  report.add({ code: 'WP_DEFINITION_PATH_INVALID', at: keySpan, parameters: { path: key, reason }, hint })
  return false
}

function readFolder(context: DefinitionContext, node: Node | undefined): string | undefined {
  const name = readName(context, node, 'folder')
  if (name === undefined || !name.split('/').includes('node_modules')) return name
  refuse(context, node!, `"folder" must not be in node_modules, not "${name}"`)
  return undefined
}

/** Reads a relative path without dots. Everything in the folder is public, so it cannot be the project itself. */
function readName(context: DefinitionContext, node: Node | undefined, key: string): string | undefined {
  const text = textOf(node)
  if (node === undefined || text === undefined) return undefined
  const name = text.replace(/^\.\//, '').replace(/\/$/, '')
  const isPlain =
    name !== '' && !/[\\\0]/.test(name) && name.split('/').every((one) => one !== '' && !one.startsWith('.'))
  if (isPlain) return name
  const what =
    key === 'folder' ? 'a folder of the project such as "public"' : 'a file of the folder such as "index.html"'
  refuse(context, node, `"${key}" must be ${what}, not "${text}"`)
  return undefined
}

function readMaxAge(context: DefinitionContext, node: Node | undefined): number | undefined {
  const text = textOf(node)
  if (node === undefined || text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== undefined && ms % 1000 === 0 && ms <= parseDuration(maxAge)!) return ms
  const expected = ms === undefined ? 'a duration such as 60s or 1d' : `whole seconds, at most ${maxAge}`
  refuse(context, node, `"max_age" must be ${expected}, not "${text}"`)
  return undefined
}

function refuse({ loading }: DefinitionContext, at: Node, problem: string): void {
  loading.report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem } })
}
