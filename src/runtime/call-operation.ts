import type { FastifyInstance, LightMyRequestResponse as Response } from 'fastify'
import type { OperationInput, OperationResult, Principal } from '../contract/index.ts'
import { isJsonType, itemTypes } from '../kit/index.ts'
import { allowInternalCall } from './authorization.ts'
import { errors } from './errors.ts'
import { essenceOf } from './media/accept.ts'
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
      payloadAsStream: true,
    })
    const text = await readText(response, operation)
    const sent = Object.entries(response.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')] as const],
    )
    return {
      status: response.statusCode,
      headers: Object.fromEntries(sent),
      body: readBody(response.headers['content-type'], text),
    }
  } finally {
    call.withdraw()
  }
}

/** Plugins may pass on all headers of a request, but get parsed bodies. */
function withoutEncodings(headers: NonNullable<OperationInput['headers']>): NonNullable<OperationInput['headers']> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'accept-encoding'))
}

/** @throws WP_RUNTIME_CALL_STREAM for a stream of values, which may not end */
async function readText(response: Response, operation: string): Promise<string> {
  const body = response.stream()
  if (itemTypes.has(essenceOf(response.headers['content-type'] ?? ''))) {
    body.destroy()
    throw errors.WP_RUNTIME_CALL_STREAM({ operation })
  }
  const parts: Buffer[] = []
  for await (const part of body) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

function readBody(type: unknown, text: string): unknown {
  if (text === '') return undefined
  return typeof type === 'string' && isJsonType(type) ? JSON.parse(text) : text
}
