import { isMap } from '../edit/values.ts'

/** Written without quotes everywhere. */
const plain = /^[A-Za-z_/][\w ./()-]*$/
/** Written without quotes as a whole line, or after its key. */
const plainLine = /^[\p{L}_/](?!.*(: | #|:$))[^\p{C}]*$/u
const reserved = /^(true|false|null|yes|no|on|off|~)$/i

/** Formats JSON as YAML for reading and comparing. */
export function toYaml(value: unknown, indent = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    const isShort = value.every((item) => typeof item !== 'object') && JSON.stringify(value).length < 60
    if (isShort)
      return `[${value.map((item) => (typeof item === 'string' ? writeText(item) : JSON.stringify(item))).join(', ')}]`
    return value.map((item) => `${indent}- ${toYaml(item, `${indent}  `).trimStart()}`).join('\n')
  }
  if (isMap(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0) return '{}'
    return entries.map(([key, item]) => `${indent}${writeText(key)}:${writeItem(item, indent)}`).join('\n')
  }
  if (typeof value !== 'string') return JSON.stringify(value)
  if (!value.includes('\n')) return writeText(value, plainLine)
  const lines = value.replace(/\n$/, '').split('\n')
  return `|${value.endsWith('\n') ? '' : '-'}\n${lines.map((line) => `${indent}${line}`).join('\n')}`
}

function writeItem(item: unknown, indent: string): string {
  const text = toYaml(item, `${indent}  `)
  const isBlock = text.startsWith(`${indent}  `)
  return isBlock ? `\n${text}` : ` ${text}`
}

function writeText(text: string, unquoted = plain): string {
  return unquoted.test(text) && !reserved.test(text) && text === text.trim() ? text : JSON.stringify(text)
}
