import type { FastifyInstance } from 'fastify'
import type { OperationInput, OperationResult, Principal } from '../contract/index.ts'
import { isJsonType } from '../kit/index.ts'
import { allowInternalCall } from './authorization.ts'
import { writeAddress } from './operation-address.ts'

/**
 * Calls an operation of a generation as a principal, through the same authorization, validation and rate limits as a
 * request.
 * @param operation for example `GET /todo/:todo_id`
 */
export async function callOperation(
  app: FastifyInstance,
  operation: string,
  { params = {}, query = {}, body, headers = {} }: OperationInput,
  principal: Principal | undefined,
): Promise<OperationResult> {
  const [method = '', path = ''] = operation.split(' ', 2)
  const call = allowInternalCall(principal)
  try {
    const response = await app.inject({
      method: method as 'GET',
      url: writeAddress(path, { params, query }),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...withoutEncodings(headers),
        ...call.headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    const sent = Object.entries(response.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')] as const],
    )
    return {
      status: response.statusCode,
      headers: Object.fromEntries(sent),
      body: readBody(response.headers['content-type'], response.body),
    }
  } finally {
    call.withdraw()
  }
}

/** Plugins may pass on all headers of a request, but get parsed bodies. */
function withoutEncodings(headers: NonNullable<OperationInput['headers']>): NonNullable<OperationInput['headers']> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'accept-encoding'))
}

function readBody(type: unknown, text: string): unknown {
  if (text === '') return undefined
  return typeof type === 'string' && isJsonType(type) ? JSON.parse(text) : text
}
