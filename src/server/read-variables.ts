import { variable, type Variables } from '../kit/index.ts'
import { errors } from './errors.ts'

/** The port to listen on: the given one, else `PORT`, else 3000. @throws WP_SERVER_NUMBER */
export function readPort(variables: Variables, given: number | undefined): number {
  if (given !== undefined) return given
  const text = variable(variables, 'PORT')
  if (text === undefined) return 3000
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw errors.WP_SERVER_NUMBER({ name: 'PORT', value: text })
  return port
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** How much of the structured log is written: `LOG_LEVEL`. @throws WP_SERVER_LOG_LEVEL */
export function readLogLevel(variables: Variables, otherwise: 'info' | 'warn'): string {
  const level = variable(variables, 'LOG_LEVEL') ?? otherwise
  if (!levels.includes(level)) throw errors.WP_SERVER_LOG_LEVEL({ value: level, levels: levels.join(', ') })
  return level
}
