import { isMap } from '../edit/values.ts'

const plain = /^[A-Za-z_/][\w ./()-]*$/
const reserved = /^(true|false|null|yes|no|on|off|~)$/i

/** Writes JSON as YAML, to read and compare it. */
export function toYaml(value: unknown, indent = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    const isShort = value.every((item) => typeof item !== 'object') && JSON.stringify(value).length < 60
    if (isShort) return `[${value.map((item) => toYaml(item)).join(', ')}]`
    return value.map((item) => `${indent}- ${toYaml(item, `${indent}  `).trimStart()}`).join('\n')
  }
  if (isMap(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0) return '{}'
    return entries.map(([key, item]) => `${indent}${writeText(key)}:${writeItem(item, indent)}`).join('\n')
  }
  if (typeof value !== 'string') return JSON.stringify(value)
  if (!value.includes('\n')) return writeText(value)
  const lines = value.replace(/\n$/, '').split('\n')
  return `|${value.endsWith('\n') ? '' : '-'}\n${lines.map((line) => `${indent}${line}`).join('\n')}`
}

function writeItem(item: unknown, indent: string): string {
  const text = toYaml(item, `${indent}  `)
  const isBlock = text.startsWith(`${indent}  `)
  return isBlock ? `\n${text}` : ` ${text}`
}

function writeText(text: string): string {
  return plain.test(text) && !reserved.test(text) && text === text.trim() ? text : JSON.stringify(text)
}
