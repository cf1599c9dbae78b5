import org.openapitools.client.apis.PlantsApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.NewPlant
import org.openapitools.client.models.Plant

fun main(args: Array<String>) {
    ApiClient.accessToken = System.getenv("PLANT_STORE_TOKEN")
    val plants = PlantsApi(System.getenv("PLANT_STORE_BASE_URL"))
    try {
        val stored = plants.createPlant(NewPlant(id = args[0].toLong(), name = args[1], tag = "indoor"))
        println("""{"stored":${Serializer.moshi.adapter(Plant::class.java).toJson(stored)}}""")
    } catch (refusal: ClientException) {
        println((refusal.response as ClientError<*>).body)
    }
}
