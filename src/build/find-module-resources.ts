import type { PartialMessage, PluginBuild } from 'esbuild'
import { transformSource } from './transform-source.ts'

/** Marks an esbuild warning as one about something that a module opens, for `checkWarnings`. */
export interface ModuleResourceWarning {
  /** For example `setInterval` or `new Pool`. */
  readonly opens: string
}

const classes = 'Pool|MongoClient|Redis|PrismaClient|Sequelize|DataSource|WebSocket|WebSocketServer|Worker'
const functions = 'setInterval|setTimeout|createPool|createServer|createConnection'
const opening = `new (?:[\\w$]+\\.)?(?:${classes})\\b|(?:[\\w$]+\\.)?(?:${functions})(?=\\()`
const statement = new RegExp(`^((?:export )?(?:(?:const|let|var) [\\w$]+ = )?(?:await )?)(${opening})`, 'gm')
const hint = new RegExp(opening)

/**
 * Finds timers, pools and servers that a source file opens while it is loaded. Each release that a server loads opens them
 * again, so a file that uses `onClose` is not reported.
 */
export async function findModuleResources(
  esbuild: PluginBuild['esbuild'],
  file: string,
  source: string,
): Promise<PartialMessage[]> {
  if (!hint.test(source) || /\bonClose\b/.test(source)) return []
  const transformed = await transformSource(esbuild, { file, source })
  if (transformed === undefined) return []
  return [...transformed.code.matchAll(statement)].flatMap(({ index, 1: start = '', 2: opens = '' }) => {
    const location = transformed.locate(index + start.length, hint)
    const detail: ModuleResourceWarning = { opens }
    return location ? [{ text: opens, location, detail }] : []
  })
}
