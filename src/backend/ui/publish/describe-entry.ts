import { keysOf } from '../edit/values.ts'
import type { DraftEntry } from './api.ts'
import { changesTexts as texts } from './publish-texts.ts'

export type Group = keyof typeof texts.groups

export interface DescribedEntry {
  readonly group: Group
  /** For routes: `POST`. */
  readonly method?: string
  readonly label: string
  /** What follows the label. */
  readonly note?: string
  /** The page that edits it; undefined if it was removed. */
  readonly link?: {
    readonly to: string
    readonly params?: Record<string, string>
    readonly search?: Record<string, string>
  }
}

const pages = {
  schema: '/schemas/$name',
  action: '/actions/$name',
  event: '/events/$name',
  cronjob: '/cronjobs/$name',
  connection: '/connections/$name',
  scope: '/scopes/$name',
} as const

/** Describes a change in the draft, and links to the page that edits it. */
export function describeEntry(entry: Pick<DraftEntry, 'name' | 'at' | 'file' | 'status'>): DescribedEntry {
  const described = entry.at === null ? describeFile(entry.file) : describePointer(entry.at)
  if (entry.status !== 'removed') return described
  const { link: _, ...rest } = described
  return rest
}

function describePointer(at: string): DescribedEntry {
  const [section = '', name, part, method] = keysOf(at)
  if (section === 'routes' && name !== undefined) {
    if (part === 'methods' && method !== undefined)
      return {
        group: 'routes',
        method,
        label: name,
        link: { to: '/routes/$route', params: { route: `${method} ${name}` } },
      }
    return { group: 'routes', label: name, note: texts.methods, link: { to: '/routes', search: { search: name } } }
  }
  if (Object.hasOwn(pages, section) && name !== undefined) {
    const group = section as keyof typeof pages
    return { group, label: name, link: { to: pages[group], params: { name } } }
  }
  return { group: 'settings', label: [section, name].filter(Boolean).join('.'), link: { to: '/settings' } }
}

function describeFile(file: string): DescribedEntry {
  const [folder, connection = '', name = ''] = file.split('/')
  if (folder === 'migrations' && /^tables\.json$/.test(name))
    return { group: 'migrations', label: texts.tables(connection), link: { to: '/tables' } }
  const link = { to: '/files/$file', params: { file } }
  if (folder === 'migrations')
    return { group: 'migrations', label: `${connection}/${name.replace(/\.yml$/, '')}`, link }
  return { group: 'files', label: file, link }
}

/** The name of a change in sentences: `POST /todo`. */
export function nameOfEntry(entry: Pick<DraftEntry, 'name' | 'at' | 'file' | 'status'>): string {
  const { method, label } = describeEntry(entry)
  return [method, label].filter(Boolean).join(' ')
}
