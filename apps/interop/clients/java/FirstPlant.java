import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.PlantsApi;
import org.openapitools.client.model.NewPlant;

public class FirstPlant {
  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("PLANT_STORE_BASE_URL"));
    var token = System.getenv("PLANT_STORE_TOKEN");
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    var json = ApiClient.createDefaultObjectMapper();
    try {
      var plant = new NewPlant().id(Long.parseLong(args[0])).name(args[1]);
      if (args.length > 2) plant.tag(args[2]);
      var stored = new PlantsApi(client).createPlant(plant);
      System.out.println("{\"stored\":" + json.writeValueAsString(stored) + "}");
    } catch (ApiException refusal) {
      System.out.println(refusal.getResponseBody());
    }
  }
}
