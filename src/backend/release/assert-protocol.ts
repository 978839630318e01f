import { version } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { protocol } from './protocol.ts'

/** @throws WP_BACKEND_PROTOCOL */
export function assertProtocol({ protocol: given }: { readonly protocol: number }): void {
  if (given !== protocol) throw errors.WP_BACKEND_PROTOCOL({ version, own: protocol, given })
}
