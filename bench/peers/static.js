export { default as files } from '@fastify/static'
